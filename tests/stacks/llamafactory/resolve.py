"""What LLaMA-Factory's own code makes of training configurations, written as goldens (tests/stacks/golden.h).

    resolve.py [--only NAME] CONFIGS_FOLDER OUT_FOLDER

CONFIGS_FOLDER holds configurations (.yaml) or goldens of another release (.json, whose "config" is read), so
that a new release is compared by resolving the goldens of the one before. The argument parser, the workflow
of the stage up to its trainer, the model loader on meta models of full size and the optimizer's builder run;
the trainer itself does not. A configuration that the release refuses has no golden; why is printed.
"""
import argparse
import importlib
import importlib.metadata
import json
import logging
import os
import sys
import tempfile

import machine

machine.install()
import torch  # noqa: E402
import transformers.utils  # noqa: E402
import yaml  # noqa: E402

RELEASE = importlib.metadata.version("llamafactory")
LIBRARIES = ("transformers", "peft", "trl", "torch", "bitsandbytes")
# Keys that say where data lie, what is logged and for how long: not part of a golden.
PROSE = {"report_to", "dataset_dir", "overwrite_cache", "preprocessing_num_workers", "dataloader_num_workers",
         "max_samples", "logging_steps", "plot_loss", "overwrite_output_dir", "ddp_timeout", "output_dir",
         "lr_scheduler_type", "warmup_ratio", "learning_rate", "resume_from_checkpoint", "trust_remote_code"}
OPTIMIZERS = {"galore_torch": {"AdamW": "galore_adamw", "AdamW8bit": "galore_adamw_8bit", "Adafactor": "galore_adafactor"},
              "apollo_torch": {"AdamW": "apollo_adamw"}, "llamafactory": {"Muon": "muon"}}


class Recorded(Exception):
    """Carries what a workflow would have built its trainer with."""


def deepspeed_settings(name):
    """The content of a DeepSpeed file by its name, as LLaMA-Factory writes it (webui/common.py, utils.py)."""
    if name is None:
        return None
    stem = os.path.basename(name)
    if stem.startswith("ds_z0"):
        return {"stage": 0}
    writer = importlib.import_module("llamafactory.webui.common")
    if not hasattr(writer, "create_ds_config"):
        writer = importlib.import_module("llamafactory.webui.utils")
    with tempfile.TemporaryDirectory() as folder:
        writer.DEFAULT_CACHE_DIR = folder
        writer.create_ds_config()
        with open(os.path.join(folder, stem), encoding="utf-8") as stream:
            return json.load(stream)["zero_optimization"]


def prepare_modules(zero3):
    """Versions are the lists' business; DeepSpeed is answered for, since it needs a GPU to start."""
    from peft.tuners.lora.layer import LoraLayer
    from llamafactory.hparams import parser
    from llamafactory.model import adapter, loader, patcher
    from llamafactory.model.model_utils import attention, moe, quantization
    from llamafactory.train import trainer_utils

    for module in (transformers.utils, attention):
        module.is_flash_attn_2_available = lambda *args, **kwargs: True
    for module in (parser, adapter, loader, patcher, quantization, moe, trainer_utils):
        if hasattr(module, "check_version"):
            module.check_version = lambda *args, **kwargs: None
        if hasattr(module, "is_deepspeed_zero3_enabled"):
            module.is_deepspeed_zero3_enabled = lambda: zero3
    LoraLayer.pissa_init = lambda *args: None  # values, which nothing on meta has
    loader.register_autoclass = lambda *args: None
    loader.load_valuehead_params = lambda *args: None
    if hasattr(patcher, "add_z3_leaf_module"):
        patcher.add_z3_leaf_module = lambda *args: None
    patcher.patch_qwen3_5_forward = lambda *args: None  # kernels for a GPU
    return parser


def run_workflow(stage, arguments):
    """Everything that the stage's trainer is given."""
    workflow = importlib.import_module(f"llamafactory.train.{stage}.workflow")
    trainer = importlib.import_module(f"llamafactory.train.{stage}.trainer")
    from llamafactory.train import trainer_utils

    def record(*args, **kwargs):
        raise Recorded(kwargs)

    names = [name for name in vars(trainer) if name.startswith("Custom") or name == "PairwiseTrainer"]
    for name in names:
        setattr(trainer, name, record)
        setattr(workflow, name, record)
    for module in (workflow, trainer_utils):
        module.load_tokenizer = lambda *args: {"tokenizer": machine.Tokenizer(), "processor": None}
    workflow.get_template_and_fix_tokenizer = lambda *args: None
    workflow.get_dataset = lambda *args, **kwargs: {"train_dataset": []}
    workflow.create_reward_model = lambda *args: None
    for name in list(vars(workflow)):
        if "Collator" in name:
            setattr(workflow, name, lambda *args, **kwargs: None)
    model_args, data_args, training_args, finetuning_args, generating_args = arguments
    more = [generating_args] if stage in ("sft", "ppo") else []
    try:
        getattr(workflow, f"run_{stage}")(model_args, data_args, training_args, finetuning_args, *more)
    except Recorded as recorded:
        return recorded.args[0]
    raise RuntimeError("the workflow made no trainer")


def optimizer_of(model, training_args, finetuning_args):
    """The optimizer's name; None where LLaMA-Factory stops."""
    from llamafactory.train import trainer_utils

    try:
        made = trainer_utils.create_custom_optimizer(model, training_args, finetuning_args)
    except NotImplementedError:
        return None
    usual = getattr(training_args.optim, "value", training_args.optim)
    if made is None:
        return usual
    layerwise = "_layerwise" if type(made).__name__ == "DummyOptimizer" else ""
    one = next(iter(made.optimizer_dict.values())) if layerwise else made
    names = OPTIMIZERS.get(type(one).__module__.split(".")[0], {})
    return names[type(one).__name__] + layerwise if type(one).__name__ in names else usual


def is_vision(name):
    return any(part in name for part in ("visual", "vision", "merger", "multi_modal_projector"))


def model_fields(model, arguments, zero3):
    model_args, _, _, finetuning_args, _ = arguments
    named = list(model.named_parameters())
    adapted = finetuning_args.finetuning_type in ("lora", "oft")
    fields = {"/peft": adapted, "/model_args/attn_implementation": machine.facts["attention"]}
    plain = [(n, p) for n, p in named if p.ndim > 1 and "lora_" not in n and "oft_" not in n and "v_head" not in n
             and "modules_to_save" not in n and (adapted or p.requires_grad)]
    words = [n for n, p in plain if not is_vision(n)] or [n for n, p in plain]
    fields["/model_args/dtype"] = machine.word_of(dict(plain)[words[0]].dtype)
    norms = [p for n, p in named if p.ndim == 1 and "norm" in n and not is_vision(n)]
    if model_args.upcast_layernorm:
        fields["/quantization/upcast"] = "norms" if norms[0].dtype == torch.float32 else "none"
    fields["/model_args/use_cache"] = bool(getattr(model.config, "use_cache", False))
    if adapted:
        config = model.peft_config["default"]
        trained = [p for n, p in named if p.requires_grad and ("lora_" in n or "oft_" in n)]
        fields["/peft/adapter_dtype"] = machine.word_of(trained[0].dtype)
        fields["/peft/modules_to_save"] = sorted(config.modules_to_save or [])
        fields["/peft/peft_type"] = config.peft_type.value
        if finetuning_args.finetuning_type == "lora":
            fields.update({"/peft/r": config.r, "/peft/lora_dropout": config.lora_dropout,
                           "/peft/use_dora": config.use_dora, "/peft/use_rslora": config.use_rslora})
        else:
            fields["/peft/oft_block_size"] = config.oft_block_size
    elif machine.facts["loaded_dtype"] != torch.float32 and not zero3:
        frozen = [p for n, p in named if not p.requires_grad]
        fields["/model_args/dtype"] = machine.word_of((frozen or [dict(named)[words[0]]])[0].dtype) \
            if finetuning_args.finetuning_type == "freeze" else fields["/model_args/dtype"]
    return fields


def deepspeed_fields(settings):
    if settings is None:
        return {}
    below = "/parallel/zero_optimization/"
    fields = {"/parallel/strategy": f"zero{settings['stage']}"}
    if settings["stage"] == 0:
        return fields
    for device in ("offload_optimizer", "offload_param"):
        fields[f"{below}{device}/device"] = settings.get(device, {}).get("device", "none")
    for key in ("overlap_comm", "contiguous_gradients", "reduce_bucket_size", "stage3_max_live_parameters",
                "stage3_max_reuse_distance", "sub_group_size"):
        value = settings.get(key)
        if value is not None and value != "auto":
            fields[below + key] = int(value) if isinstance(value, float) else value
    return fields


def checkpointing_fields(model, model_args):
    on = bool(getattr(model, "is_gradient_checkpointing", False))
    fields = {"/training/gradient_checkpointing": on}
    if not on:
        return fields
    fields["/training/activation_offloading"] = model_args.use_unsloth_gc
    if not model_args.use_unsloth_gc:
        fields["/training/gradient_checkpointing_kwargs/use_reentrant"] = getattr(model_args, "use_reentrant_gc", True)
    return fields


def evaluation_fields(training_args, trainer):
    strategy = training_args.eval_strategy.value
    if strategy == "no" and training_args.do_eval:
        strategy = "epoch"  # once, when the training is over, with the optimizer still there
    fields = {"/training/eval_strategy": strategy}
    if strategy == "no":
        return fields
    fields.update({
        "/training/per_device_eval_batch_size": training_args.per_device_eval_batch_size,
        "/training/eval_accumulation_steps": training_args.eval_accumulation_steps or 0,
        "/training/prediction_loss_only": training_args.prediction_loss_only,
        "/training/compute_metrics": trainer.get("compute_metrics") is not None,
        # What generation collects is one number a token too.
        "/training/preprocess_logits_for_metrics": trainer.get("preprocess_logits_for_metrics") is not None
        or training_args.predict_with_generate})
    return fields


def training_fields(training_args, data_args):
    # Packed examples are filled up to one token more than cutoff_len has become (data/processor/supervised.py).
    length = data_args.cutoff_len
    return {"/training/bf16": training_args.bf16, "/training/fp16": training_args.fp16,
            "/training/per_device_train_batch_size": training_args.per_device_train_batch_size,
            "/training/gradient_accumulation_steps": training_args.gradient_accumulation_steps,
            "/training/max_length": length, "/training/packing": bool(data_args.packing),
            "/training/torch_compile": training_args.torch_compile,
            "/training/max_steps": max(training_args.max_steps, 0),
            "/training/torch_empty_cache_steps": getattr(training_args, "torch_empty_cache_steps", None) or 0,
            # Below 1 it is a share of the run.
            **({"/training/save_steps": int(training_args.save_steps)} if training_args.save_steps >= 1 else {}),
            "/training/save_total_limit": training_args.save_total_limit or 0}


def task_fields(finetuning_args, trainer):
    task = {"pt": "pretrain", "rm": "reward"}.get(finetuning_args.stage, finetuning_args.stage)
    if task == "dpo" and finetuning_args.pref_loss in ("orpo", "simpo"):
        task = finetuning_args.pref_loss
    fields = {"/task": task, "/model_args/value_head": finetuning_args.stage in ("rm", "ppo")}
    if finetuning_args.stage in ("dpo", "kto"):
        fields["/rl/beta"] = finetuning_args.pref_beta
        adapted = "PeftModel" in type(trainer["model"]).__name__
        if trainer["ref_model"] is not None:
            fields["/rl/reference_model"] = "copy"
        elif task in ("dpo", "kto"):
            fields["/rl/reference_model"] = "adapter_off" if adapted else "none"
    return fields


def frozen_fields(model, finetuning_args):
    from llamafactory.model.model_utils import visual

    known = getattr(visual, "COMPOSITE_MODELS", {})
    if getattr(model.config, "model_type", None) not in known or finetuning_args.finetuning_type == "freeze":
        return {}
    return {f"/vision/{key}": bool(getattr(finetuning_args, key))
            for key in ("freeze_vision_tower", "freeze_multi_modal_projector", "freeze_language_model")}


def resolve(config):
    settings = dict(config, do_train=True, report_to="none", output_dir=tempfile.mkdtemp())
    zero = deepspeed_settings(settings.pop("deepspeed", None))
    zero3 = zero is not None and zero["stage"] == 3
    parser = prepare_modules(zero3)
    arguments = parser.get_train_args(settings)
    model_args, data_args, training_args, finetuning_args, _ = arguments
    typed_length = config.get("cutoff_len", 2048)
    trainer = run_workflow(finetuning_args.stage, arguments)
    model = trainer["model"]
    base = getattr(model, "pretrained_model", model)
    fields = {**task_fields(finetuning_args, trainer), **training_fields(training_args, data_args),
              **model_fields(base, arguments, zero3), **machine.quantization_fields(),
              **checkpointing_fields(base, model_args), **evaluation_fields(training_args, trainer),
              **frozen_fields(base, finetuning_args), **deepspeed_fields(zero)}
    if zero3:  # zero.Init: the precision of the run (DeepSpeed's runtime/zero/partition_parameters.py _set_dtype)
        half = "float16" if training_args.fp16 else "float32"
        fields["/model_args/dtype"] = "bfloat16" if training_args.bf16 else half
    if data_args.packing and finetuning_args.stage == "sft" and data_args.cutoff_len == typed_length - 1:
        fields["/training/max_length"] = typed_length
    if finetuning_args.stage == "ppo":
        fields["/rl/max_prompt_length"] = fields.pop("/training/max_length")
        fields["/rl/max_completion_length"] = arguments[4].max_new_tokens
    if "num_train_epochs" in config:
        fields["/data/epochs"] = training_args.num_train_epochs
    liger = model_args.enable_liger_kernel
    fields["/training/use_liger_kernel"] = liger
    if liger:
        fused = finetuning_args.stage in ("pt", "sft")
        fields["/training/liger_kernel_config/fused_linear_cross_entropy"] = fused
        fields["/training/liger_kernel_config/cross_entropy"] = not fused
    if finetuning_args.finetuning_type == "freeze":
        if finetuning_args.freeze_trainable_layers > 0 and not finetuning_args.use_llama_pro:  # the last ones
            fields["/training/freeze_trainable_layers"] = finetuning_args.freeze_trainable_layers
        fields["/training/upcast_trainable"] = not finetuning_args.pure_bf16 and not zero3
    optimizer = optimizer_of(model, training_args, finetuning_args)
    if optimizer is not None:
        fields["/training/optim"] = optimizer
    return fields, sum(p.numel() for p in model.parameters() if p.requires_grad)


def versions():
    found = {name: importlib.metadata.version(name).split("+")[0] for name in LIBRARIES}
    return {"llamafactory": RELEASE, **found}


def read_config(path):
    with open(path, encoding="utf-8") as stream:
        if path.endswith(".json"):
            golden = json.load(stream)
            return golden["config"], golden["source"]
        config = yaml.safe_load(stream)
    name = os.path.splitext(os.path.basename(path))[0]
    return config, "hiyouga/LLaMA-Factory examples/" + name.replace("__", "/") + ".yaml" if "__" in name else "drawn"


def write_golden(path, config, source, out):
    if "model" in config and "model_name_or_path" not in config:
        import resolve_v1

        fields, trainable = resolve_v1.resolve(config, lambda name: deepspeed_fields(deepspeed_settings(name)))
    else:
        fields, trainable = resolve(config)
    golden = {"source": source, "versions": versions(),
              "config": {key: value for key, value in config.items() if key not in PROSE},
              "fields": dict(sorted(fields.items())), "trainable": trainable}
    if os.path.exists(path):  # reasons are written by hand
        with open(path, encoding="utf-8") as stream:
            golden.update({key: value for key, value in json.load(stream).items() if key == "differs"})
    with open(path, "w", encoding="utf-8") as stream:
        json.dump(golden, stream, indent=1, ensure_ascii=False)
        stream.write("\n")
    print(os.path.basename(path), trainable, file=out)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", default="")
    options.add_argument("configs")
    options.add_argument("out")
    options = options.parse_args()
    logging.disable(logging.CRITICAL)
    prepare_modules(False)  # imported once, before the processes part
    for stage in ("sft", "pt", "rm", "dpo", "kto", "ppo"):
        importlib.import_module(f"llamafactory.train.{stage}.workflow")
        importlib.import_module(f"llamafactory.train.{stage}.trainer")
    os.makedirs(options.out, exist_ok=True)
    for name in sorted(os.listdir(options.configs)):
        stem, ending = os.path.splitext(name)
        if ending not in (".yaml", ".json") or options.only not in stem:
            continue
        sys.stdout.flush()
        child = os.fork()
        if child:
            os.waitpid(child, 0)
            continue
        out = os.fdopen(os.dup(1), "w")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        try:
            config, source = read_config(os.path.join(options.configs, name))
            write_golden(os.path.join(options.out, stem + ".json"), config, source, out)
        except BaseException as problem:  # noqa: B902 - whatever stops one must not stop the others
            print(f"{stem}: {type(problem).__name__}: {str(problem)[:300]}", file=out)
            if os.environ.get("TRACE"):
                import traceback
                traceback.print_exc()
        out.flush()
        os._exit(0)


if __name__ == "__main__":
    main()
