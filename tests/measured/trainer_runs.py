"""A request of the contract as Trainer, Seq2SeqTrainer or a trainer of TRL runs it: on a GPU that is not there
(real_trainer_step.py), or on a real one (gpu_runs.py). Weights are drawn, not downloaded.

    import trainer_runs
    trainer_runs.run(request, recorder, steps=2, modes=contextlib.nullcontext)

A recorder has enter(phase), called where a phase begins ("forward 1", "backward 1", "optimizer 1", "between", "eval"), and
begin(model, reference), called when all that is trained is loaded.
"""

import contextlib
import gc
import sys
import tempfile

import peft
import torch
import trainer_batches
import transformers
from transformers import AutoConfig, Trainer, TrainerCallback, TrainingArguments
from transformers.initialization import no_init_weights

PLAIN = dict(report_to=[], logging_strategy="no", save_strategy="no", logging_nan_inf_filter=False, disable_tqdm=True,
             dataloader_pin_memory=False, seed=1)
PASSED_ON = ("per_device_train_batch_size", "per_device_eval_batch_size", "gradient_accumulation_steps", "bf16", "fp16",
             "optim", "gradient_checkpointing", "gradient_checkpointing_kwargs", "eval_accumulation_steps",
             "prediction_loss_only", "use_liger_kernel", "torch_compile", "torch_empty_cache_steps")
OF_TRL = ("activation_offloading",)
ONLINE = ("grpo", "rloo")
SEQ2SEQ = ("t5", "bart", "whisper")
DEVICE = "cuda"  # gpu_runs.py says cpu where it is only tried
REAL = False  # there are values to compute with


def model_of(request):
    fields = dict(request["model"]["config"])
    config = AutoConfig.for_model(fields.pop("model_type"), **fields)
    arguments = request["model_args"]
    kind = transformers.AutoModelForCausalLM
    if config.model_type in SEQ2SEQ:
        kind = transformers.AutoModelForSpeechSeq2Seq if config.model_type == "whisper" else transformers.AutoModelForSeq2SeqLM
    if "vision" in request:
        kind = transformers.AutoModelForImageTextToText
    if request.get("task") in ("classification", "reward"):
        kind, config.num_labels = transformers.AutoModelForSequenceClassification, arguments["num_labels"]
    with torch.device(DEVICE), no_init_weights() if REAL else contextlib.nullcontext():
        model = kind.from_config(config, dtype=getattr(torch, arguments["dtype"]),
                                 attn_implementation=arguments["attn_implementation"])
    model.tie_weights()
    if REAL:
        for parameter in model.parameters():
            parameter.data.normal_(std=0.02) if parameter.ndim > 1 else parameter.data.fill_(0.5)
    return quantized(model, request) if "quantization" in request else model


def quantized(model, request):
    """bitsandbytes' layers where from_pretrained would put them: every linear but the head."""
    import types

    import bitsandbytes as bnb

    asked = request["quantization"]
    four = asked.get("load_in_4bit", False)
    for name, module in list(model.named_modules()):
        if type(module) is not torch.nn.Linear or name.endswith("lm_head") or "vision" in name:
            continue
        shape = module.in_features, module.out_features, module.bias is not None
        if four:
            made = bnb.nn.Linear4bit(*shape, compute_dtype=torch.bfloat16, device="meta", quant_type="nf4",
                                     compress_statistics=asked.get("bnb_4bit_use_double_quant", False))
            made.weight = bnb.nn.Params4bit(module.weight.data, requires_grad=False, quant_type="nf4", module=made,
                                            compress_statistics=asked.get("bnb_4bit_use_double_quant", False))
        else:
            made = bnb.nn.Linear8bitLt(*shape, has_fp16_weights=False, device="meta")
            made.weight = bnb.nn.Int8Params(module.weight.data, requires_grad=False, has_fp16_weights=False)._quantize(DEVICE)
        made.bias, module.weight = module.bias, None
        parent, _, last = name.rpartition(".")
        setattr(model.get_submodule(parent), last, made.to(DEVICE))
    model.is_quantized, model.is_loaded_in_4bit, model.is_loaded_in_8bit = True, four, not four
    model.hf_quantizer = types.SimpleNamespace(is_trainable=True)
    model.config.quantization_config = None
    if request["stack"] == "hf":
        reentrant = (request["training"].get("gradient_checkpointing_kwargs") or {}).get("use_reentrant", True)
        model = peft.prepare_model_for_kbit_training(model, request["training"]["gradient_checkpointing"],
                                                     {"use_reentrant": reentrant})
    return model


def peft_config(request):
    fields = dict(request["peft"])
    tokens = fields.pop("num_trainable_tokens", 0)
    if tokens:
        fields["trainable_token_indices"] = list(range(tokens))
    method = peft.PEFT_TYPE_TO_CONFIG_MAPPING[peft.PeftType(fields.pop("peft_type", "LORA"))]
    task = "SEQ_CLS" if request.get("task") in ("classification", "reward") else "CAUSAL_LM"
    if request["model"]["config"]["model_type"] in SEQ2SEQ:
        task = "SEQ_2_SEQ_LM"
    if request["model"]["config"]["model_type"] == "whisper":  # PEFT's own class for the task wants input_ids
        task = None
    return method(task_type=task, **fields)


class Loader:
    """Batches that were made before, sent to the GPU when they are asked for, as DataLoaderShard does."""

    def __init__(self, batches, size):
        self.batches, self.batch_size, self.dataset = batches, size, [0] * (len(batches) * size)

    def __len__(self):
        return len(self.batches)

    def __iter__(self):
        for batch in self.batches:
            yield {key: x.to(DEVICE) if isinstance(x, torch.Tensor) else x for key, x in batch.items()}


class Phases(TrainerCallback):
    def __init__(self, recorder):
        self.recorder = recorder

    def on_pre_optimizer_step(self, args, state, control, **kwargs):
        self.recorder.enter(f"optimizer {state.global_step + 1}")

    def on_step_end(self, args, state, control, **kwargs):
        gc.collect(0)
        self.recorder.enter("between")


def follow(trainer, recorder, batches, size):
    if batches is not None:
        trainer.get_train_dataloader = lambda: Loader(batches, size)
    trainer.add_callback(Phases(recorder))
    step, backward, prepare = trainer.training_step, trainer.accelerator.backward, trainer._prepare_inputs

    def training_step(*args, **kwargs):
        recorder.enter(f"forward {trainer.state.global_step + 1}")
        return step(*args, **kwargs)

    def go_backward(*args, **kwargs):
        recorder.enter(f"backward {trainer.state.global_step + 1}")
        backward(*args, **kwargs)
        recorder.enter("between")

    def generate(*args, **kwargs):
        recorder.enter("generate")
        made = prepare(*args, **kwargs)
        recorder.enter(f"forward {trainer.state.global_step + 1}")
        return made

    trainer.training_step, trainer.accelerator.backward = training_step, go_backward
    if batches is None:
        trainer._prepare_inputs = generate


def metrics_of(request):
    """Trainer keeps all logits for a function that computes metrics, whatever it computes."""
    return (lambda predictions: {}) if request["training"].get("compute_metrics") else None


def eval_batches_of(request):
    return request.get("data", {}).get("eval_samples", 0) // request["training"].get("per_device_eval_batch_size", 8) or 2


def evaluate(request, trainer, recorder, batches):
    if request["training"]["eval_strategy"] == "no":
        return
    size = request["training"]["per_device_eval_batch_size"]
    trainer.get_eval_dataloader = lambda *args, **kwargs: Loader(batches, size)
    recorder.enter("eval")
    trainer.eval_dataset = trainer.train_dataset
    trainer.evaluate()
    gc.collect()
    recorder.enter("between")


def run_plain(request, recorder, steps, modes):
    training = request["training"]
    arguments = {key: training[key] for key in PASSED_ON if key in training}
    count = steps * training["gradient_accumulation_steps"]
    seq2seq = request["model"]["config"]["model_type"] in SEQ2SEQ
    kind = transformers.Seq2SeqTrainer if seq2seq else Trainer
    made = transformers.Seq2SeqTrainingArguments if seq2seq else TrainingArguments
    size = training["per_device_train_batch_size"]
    batches = [trainer_batches.batch_of(request, size, number) for number in range(count)]
    eval_size = training.get("per_device_eval_batch_size", 8)
    eval_batches = [trainer_batches.batch_of(request, eval_size) for _ in range(eval_batches_of(request))]
    with modes():
        model = model_of(request)
        if request.get("peft"):
            with torch.device(DEVICE):
                model = peft.get_peft_model(model, peft_config(request))
        with tempfile.TemporaryDirectory() as folder:
            trainer = kind(model=model, args=made(output_dir=folder, remove_unused_columns=False, max_steps=steps, **PLAIN,
                                                  **arguments),
                           train_dataset=[0] * 100, data_collator=lambda x: x, compute_metrics=metrics_of(request))
            follow(trainer, recorder, batches, size)
            recorder.begin(trainer.model)
            trainer.train()
            gc.collect()
            evaluate(request, trainer, recorder, eval_batches)


def trl_classes(task):
    import trl

    if task == "orpo":
        import trl.experimental.orpo as orpo

        return orpo.ORPOConfig, orpo.ORPOTrainer
    name = {"sft": "SFT", "dpo": "DPO", "kto": "KTO", "reward": "Reward", "grpo": "GRPO", "rloo": "RLOO"}[task]
    return getattr(trl, f"{name}Config"), getattr(trl, f"{name}Trainer")


def online_arguments(request, given):
    """Of GRPO and RLOO. Completions that are written are as long as they may be."""
    rl = request["rl"]
    asked = dict(num_generations=rl["num_generations"], beta=rl.get("beta", 0.0), max_completion_length=rl["max_completion_length"])
    if not given:
        asked["generation_kwargs"] = {"min_new_tokens": rl["max_completion_length"]}
    return asked


def run_trl(request, recorder, steps, modes, given=True):
    """`given`: the completions of GRPO and RLOO are handed over, not generated."""
    import datasets

    datasets.disable_progress_bars()
    training, task = request["training"], request["task"]
    size, length = training["per_device_train_batch_size"], training["max_length"]
    config, kind = trl_classes(task)
    arguments = {key: training[key] for key in PASSED_ON + OF_TRL if key in training}
    arguments.update(online_arguments(request, given) if task in ONLINE else {"max_length": length})
    if task == "sft":
        arguments["packing"] = training["packing"]
    count = max(8, 4 * size, steps * size * training["gradient_accumulation_steps"])
    rows = datasets.Dataset.from_dict(trainer_batches.preference_rows(request, count))
    more = {"reward_funcs": lambda completions, **kwargs: [0.0] * len(completions)} if task in ONLINE else {}
    if task == "sft":
        more["compute_metrics"] = metrics_of(request)
    if request.get("peft"):
        more["peft_config"] = peft_config(request)
    with tempfile.TemporaryDirectory() as folder:
        arguments = config(output_dir=folder, max_steps=steps, **PLAIN, **arguments)
        if task in ONLINE:  # the reference is asked for by the name of a model that has none
            sys.modules[kind.__module__].create_model_from_path = lambda *args, **kwargs: model_of(request)
        with modes():
            if task in ("dpo", "kto") and not request.get("peft"):
                more["ref_model"] = model_of(request)
            trainer = kind(model=model_of(request), args=arguments, train_dataset=rows,
                           processing_class=trainer_batches.tokenizer(), **more)
        count, batches = steps * training["gradient_accumulation_steps"], None
        if task in ONLINE and given:
            batches = trainer_batches.given_completions(trainer, size, length, count)
        elif task not in ONLINE:
            some = [trainer.train_dataset[i] for i in range(size)]
            batches = [trainer.data_collator([dict(row) for row in some]) for _ in range(count)]
        with modes():
            follow(trainer, recorder, batches, size)
            recorder.begin(trainer.model, getattr(trainer, "ref_model", None))
            trainer.train()
            gc.collect()
            if training["eval_strategy"] != "no":
                some = [dict(trainer.train_dataset[i]) for i in range(training["per_device_eval_batch_size"])]
                evaluate(request, trainer, recorder, [trainer.data_collator(some) for _ in range(eval_batches_of(request))])


def run(request, recorder, steps, modes, given=True):
    if request["stack"] == "trl":
        return run_trl(request, recorder, steps, modes, given)
    return run_plain(request, recorder, steps, modes)
