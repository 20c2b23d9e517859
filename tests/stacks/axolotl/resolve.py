"""What Axolotl makes of configurations, as goldens: its own load_cfg, trainer builder and model loader on a CPU.

    python resolve.py [--only NAME] CONFIGS_FOLDER OUT_FOLDER

CONFIGS_FOLDER holds YAML files, or goldens, whose "config" is read: the goldens of one release are the input for
the next. A configuration that Axolotl refuses is named and left out. Reasons in an existing golden's "differs" stay.
"""

import argparse
import contextlib
import copy
import importlib.metadata
import json
import logging
import multiprocessing
import os
import pathlib
import tempfile
import traceback
import types

import stand_ins  # first: the stand-ins must be there when Axolotl is imported
import torch
import yaml
from axolotl.cli import config as cli_config
from axolotl.core.builders import causal, rl
from axolotl.loaders import adapter as adapting
from axolotl.loaders import model as loading
from axolotl.loaders.utils import load_model_config
from axolotl.utils import config as settings

import fields

LIBRARIES = ["axolotl", "transformers", "trl", "peft", "accelerate", "torch", "bitsandbytes"]
SECONDS = 400

cli_config.is_torch_tf32_available = lambda *args, **kwargs: True
loading.log_gpu_memory_usage = settings.log_gpu_memory_usage = lambda *args, **kwargs: None
cli_config.prepare_optim_env = lambda cfg: None  # starts DeepSpeed's process group
with contextlib.suppress(ImportError):
    from axolotl.monkeypatch.attention import fa2_hub_kernel
    fa2_hub_kernel.is_fa2_hub_kernel_available = lambda *args, **kwargs: True


class Captured(Exception):
    """The arguments are there; the trainer itself is not wanted."""


def training_arguments(cfg, model, tokenizer):
    """The argument object that Axolotl's builder gives its trainer."""
    with_rl = bool(cfg.rl)
    builder = (rl.HFRLTrainerBuilder if with_rl else causal.HFCausalTrainerBuilder)(cfg, model, tokenizer)
    builder.train_dataset = [1] * 100
    builder.eval_dataset = [1] if cfg.val_set_size or cfg.test_datasets else None
    builder.get_callbacks = lambda *args: []
    if with_rl:
        return builder._build_training_arguments(1000)[0]
    held = []

    def keep(self, args):
        held.append(args)
        raise Captured

    builder.hook_post_create_training_args = types.MethodType(keep, builder)
    with contextlib.suppress(Captured):
        builder.build(1000)
    return held[0]


def model_class(loader, cfg):
    """ModelLoader._build_model's choice."""
    named = loader.model_type and loader.model_type != "AutoModelForCausalLM"
    if named and not cfg.trust_remote_code and not cfg.gptq:
        return getattr(stand_ins.transformers, loader.model_type)
    return loader.auto_model_loader


def load(cfg, tokenizer):
    """The model as ModelLoader leaves it, on the meta device, with its adapters; and the LoraConfig as it was given."""
    loader = loading.ModelLoader(cfg, tokenizer)
    stage = fields.zero_stage(cfg)
    loading.is_deepspeed_zero3_enabled = lambda: stage == 3
    for step in ("auto_model_loader", "device_map_config", "quantization_config", "attention_config"):
        getattr(loader, f"_set_{step}")()
    config = load_model_config(cfg)
    config._attn_implementation = "eager"  # any kernel will do for shapes and types
    cls = model_class(loader, cfg)
    before = torch.get_default_dtype()
    torch.set_default_dtype(cfg.torch_dtype)
    try:
        with torch.device("meta"):
            loader.model = cls.from_config(config) if hasattr(cls, "from_config") else cls._from_config(config)
    finally:
        torch.set_default_dtype(before)
    loader.model.to(cfg.torch_dtype)
    quantised = loader.model_kwargs.get("quantization_config")
    for flag in ("load_in_4bit", "load_in_8bit"):
        if quantised is not None and cfg[flag]:
            loader.model.is_quantized = True
            setattr(loader.model, flag.replace("load", "is_loaded"), True)
    for step in ("_configure_experts_implementation", "_configure_qat", "_resize_token_embeddings",
                 "_set_z3_leaf_modules", "_reinitialize_classification_head"):
        setattr(loader, step, lambda *args: None)
    loader._apply_post_model_load_setup()
    given = None
    if cfg.adapter:
        cfg.rl_before, cfg.rl = cfg.rl, None  # for DPO and KTO the trainer applies the same LoraConfig later
        kept = []
        build = adapting.get_peft_model

        def apply(model, lora, **kwargs):
            kept.append(copy.deepcopy(lora))
            return build(model, lora, **kwargs)

        adapting.get_peft_model = apply
        loader._load_adapters()
        cfg.rl = cfg.rl_before
        given = kept[0]
    elif cfg.unfrozen_parameters:
        from axolotl.utils.freeze import freeze_layers_except
        freeze_layers_except(loader.model, cfg.unfrozen_parameters)
    if cfg.freeze_mm_modules:
        from axolotl.utils.freeze import freeze_mm_modules
        freeze_mm_modules(loader.model)
    return loader, given


def resolve(config):
    """The golden of one configuration, without its source."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        fields.write_deepspeed_files(pathlib.Path(folder))
        path = pathlib.Path(folder, "config.yml")
        path.write_text(yaml.safe_dump(config))
        cfg = cli_config.load_cfg(str(path))
        if not cfg.torch_dtype:
            settings.resolve_dtype(cfg)  # left to the workers of Ray
        network = load_model_config(cfg)
        tokenizer = stand_ins.Tokenizer(network)
        loader, lora = load(cfg, tokenizer)
        holder = types.SimpleNamespace(config=network, add_model_tags=lambda *args: None)
        deepspeed, cfg.deepspeed = cfg.deepspeed, None  # TrainingArguments would import it
        args = training_arguments(cfg, holder, tokenizer)
        cfg.deepspeed = deepspeed
        golden = {"fields": fields.of(cfg, args, loader, lora, network)}
        if "/training/lisa_activated_layers" not in golden["fields"]:  # a callback freezes the others later
            golden["trainable"] = sum(p.numel() for p in loader.model.parameters() if p.requires_grad)
        os.chdir("/")
    return golden


def child(config, queue):
    logging.disable(logging.CRITICAL)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    try:
        queue.put(resolve(config))
    except BaseException as problem:  # the next configuration must still be read
        queue.put({"problem": f"{type(problem).__name__}: {str(problem)[:400]}",
                   "trace": traceback.format_exc()[-1500:]})


def resolve_apart(config):
    """In a process of its own: plugins and patches change modules for good."""
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=child, args=(config, queue))
    process.start()
    try:
        return queue.get(timeout=SECONDS)
    except Exception as problem:
        return {"problem": f"no answer in {SECONDS} s {problem!r}"}
    finally:
        process.join(2)
        if process.is_alive():
            process.kill()


def read(path):
    """The configuration and where it comes from."""
    if path.suffix == ".json":
        content = json.loads(path.read_text())
        return content["config"], content["source"]
    return yaml.safe_load(path.read_text()), f"axolotl-ai-cloud/axolotl examples/{path.name.replace('__', '/')}"


UNWANTED = ("output_dir", "wandb_", "mlflow_", "comet_", "swanlab_", "hub_", "dataset_prepared_path", "chat_template",
            "special_tokens", "tokens", "resume_", "logging_steps", "warmup_", "weight_decay", "lr_scheduler", "debug",
            "default_system_message", "eot_tokens", "use_swanlab", "use_wandb", "added_tokens", "secrets", "volumes")


def plain(config):
    """The settings without prose and without what the datasets are."""
    kept = {k: v for k, v in config.items() if v is not None and not k.startswith(UNWANTED)}
    for key in ("datasets", "test_datasets", "pretraining_dataset"):
        if kept.get(key):
            kept[key] = [{"path": "data"}]
    return kept


def write(path, source, config, golden):
    versions = {name: importlib.metadata.version(name).split("+")[0] for name in LIBRARIES}
    content = {"source": source, "versions": versions, "config": plain(config), **golden}
    if path.exists():
        differs = json.loads(path.read_text()).get("differs")
        if differs:
            content["differs"] = differs
    path.write_text(json.dumps(content, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="configurations whose file name holds this")
    parser.add_argument("configs", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    asked = parser.parse_args()
    configs, out = asked.configs.resolve(), asked.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    for path in sorted(configs.iterdir()):
        if path.suffix not in (".json", ".yml", ".yaml") or asked.only not in path.name:
            continue
        config, source = read(path)
        golden = resolve_apart(config)
        if "problem" in golden:
            print(f"{path.name}: {golden['problem']}", flush=True)
            if os.environ.get("TRACE"):
                print(golden.get("trace"))
            continue
        write(out / f"{path.stem}.json", source, config, golden)


if __name__ == "__main__":
    main()
