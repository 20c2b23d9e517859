"""Runs a training script on a CPU up to trainer.train() and says what it resolved.

    with stand_ins():                        # a folder with a tiny model and data
        found = run_script(Path("scripts/sft_lora.py"))
    found.args, found.trainer                # as the libraries made them
    write_golden(out, found, fields(found))

Shared by transformers/resolve.py and trl/resolve.py. Names of the Hub are met by
folders of the same name in the working directory, so no call of a library is
replaced but three: the question whether the GPU has bfloat16 (yes), the Trainer's
train(), and the check whether Liger or vLLM is installed.
"""

import contextlib
import importlib.metadata
import json
import os
import tempfile
import traceback
from dataclasses import dataclass
from pathlib import Path

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", WANDB_MODE="disabled")

import datasets
import torch
import transformers
from transformers import TrainingArguments, training_args

LIBRARIES = ("transformers", "trl", "peft", "accelerate")

# TrainingArguments and its kin, as pointers of the contract. None is what the
# contract writes as 0: never, none, no limit.
POINTERS = {
    "per_device_train_batch_size": "/training/per_device_train_batch_size",
    "gradient_accumulation_steps": "/training/gradient_accumulation_steps",
    "bf16": "/training/bf16",
    "fp16": "/training/fp16",
    "gradient_checkpointing": "/training/gradient_checkpointing",
    "torch_compile": "/training/torch_compile",
    "use_liger_kernel": "/training/use_liger_kernel",
    "per_device_eval_batch_size": "/training/per_device_eval_batch_size",
    "eval_accumulation_steps": "/training/eval_accumulation_steps",
    "prediction_loss_only": "/training/prediction_loss_only",
    "save_total_limit": "/training/save_total_limit",
    "torch_empty_cache_steps": "/training/torch_empty_cache_steps",
    "activation_offloading": "/training/activation_offloading",
    "packing": "/training/packing",
}
COUNTS = ("eval_accumulation_steps", "save_total_limit", "torch_empty_cache_steps")
LINEARS = ["down_proj", "gate_proj", "k_proj", "o_proj", "q_proj", "up_proj", "v_proj"]


@dataclass
class Found:
    """What a script left behind when it came to trainer.train()."""

    text: str
    args: object = None
    trainer: object = None
    model: object = None  # as the trainer holds it
    problem: str = ""
    refused: bool = False  # by the library, not for want of a GPU or a package


def fake_gpu():
    """Answers as a GPU with bfloat16 would; nothing is put on it."""
    for module in (training_args, transformers.utils, transformers.utils.import_utils):
        for name in ("is_torch_bf16_gpu_available", "is_torch_bf16_available"):
            if hasattr(module, name):
                setattr(module, name, lambda *_, **__: True)
    with contextlib.suppress(ImportError):
        from accelerate.utils import imports

        imports.is_bf16_available = lambda *_, **__: True
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    datasets.disable_progress_bars()


def tiny_tokenizer(folder):
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = ["<s>", "</s>", "<pad>", "<unk>"] + [chr(c) for c in range(33, 127)]
    tokenizer = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, "<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>",
        pad_token="<pad>", unk_token="<unk>", padding_side="left",
    )
    fast.chat_template = "{% for m in messages %}{{ m.content }}{{ eos_token }}{% endfor %}"
    fast.save_pretrained(folder)


def tiny_model(folder, dtype=torch.bfloat16):
    """Llama of two narrow layers, stored in bfloat16 as the real one is."""
    config = transformers.LlamaConfig(
        vocab_size=128, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=131072,
        tie_word_embeddings=True, pad_token_id=2, bos_token_id=0, eos_token_id=1,
    )
    transformers.LlamaForCausalLM(config).to(dtype).save_pretrained(folder)
    tiny_tokenizer(folder)


DATA = {
    "trl-lib/Capybara": {"text": "abc def " * 50},
    "trl-lib/ultrafeedback_binarized": {"prompt": "abc", "chosen": "def", "rejected": "g"},
    "trl-lib/kto-mix-14k": {"prompt": "abc", "completion": "def", "label": True},
    "trl-lib/tldr": {"prompt": "abc"},
    "trl-lib/tokens": {"input_ids": [5, 6, 7, 8], "labels": [5, 6, 7, 8]},
}


@contextlib.contextmanager
def stand_ins():
    """A working directory in which the scripts' names of the Hub are folders."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["HF_DATASETS_CACHE"] = os.path.join(folder, "cache")
        try:
            tiny_model("meta-llama/Llama-3.2-1B")
            for name, row in DATA.items():
                os.makedirs(name)
                rows = [dict(row) for _ in range(16)]
                for i, made in enumerate(rows):
                    if "label" in made:
                        made["label"] = i % 2 == 0
                Path(name, "train.jsonl").write_text("\n".join(map(json.dumps, rows)))
            yield
        finally:
            os.chdir(before)


def run_script(path):
    """Executes a script; trainer.train() does nothing."""
    found = Found(path.read_text())
    original = TrainingArguments.__post_init__

    def remember(args, *rest, **named):
        found.args = args
        original(args, *rest, **named)

    TrainingArguments.__post_init__ = remember
    transformers.Trainer.train = lambda self, *_, **__: None
    names = {"__name__": "__main__"}
    try:
        exec(compile(found.text, str(path), "exec"), names)
    except Exception as problem:  # whatever a release says against a script
        found.refused = isinstance(problem, (TypeError, ValueError, NotImplementedError))
        found.problem = f"{type(problem).__name__}: {problem}".splitlines()[0][:200]
        if os.environ.get("TRACE"):
            traceback.print_exc()
    finally:
        TrainingArguments.__post_init__ = original
    found.trainer = names.get("trainer")
    found.model = getattr(found.trainer, "model", names.get("model"))
    return found


def reentrant(model, args):
    """Which checkpoint implementation the model's layers hold once the Trainer has asked for it."""
    model.gradient_checkpointing_enable(
        gradient_checkpointing_kwargs=args.gradient_checkpointing_kwargs
    )
    for module in model.modules():
        function = getattr(module, "_gradient_checkpointing_func", None)
        if function is not None:
            return function.keywords.get("use_reentrant", True)  # PyTorch's own default
    return None


def argument_fields(args):
    """The fields that the arguments' class settles alone."""
    fields = {}
    for name, pointer in POINTERS.items():
        if hasattr(args, name):
            value = getattr(args, name)
            fields[pointer] = (value or 0) if name in COUNTS else value
    for kind in ("train", "eval"):  # the older name goes before the newer
        old = getattr(args, f"per_gpu_{kind}_batch_size", None)
        if old:
            fields[f"/training/per_device_{kind}_batch_size"] = old
    strategy = getattr(args, "eval_strategy", None) or args.evaluation_strategy
    fields["/training/eval_strategy"] = str(getattr(strategy, "value", strategy))
    fields["/training/optim"] = str(getattr(args.optim, "value", args.optim))
    fields["/training/max_steps"] = max(args.max_steps, 0)
    by_steps = str(getattr(args.save_strategy, "value", args.save_strategy)) == "steps"
    if by_steps and args.save_steps >= 1:  # below, a share of the run
        fields["/training/save_steps"] = args.save_steps
    for kernel, on in (getattr(args, "liger_kernel_config", None) or {}).items():
        if args.use_liger_kernel:
            fields[f"/training/liger_kernel_config/{kernel}"] = on
    if args.bf16 is None:  # TRL: bf16 unless fp16
        fields["/training/bf16"] = not args.fp16
    return fields


def model_fields(model, args):
    """The fields that show in the model as the trainer holds it."""
    fields = {}
    base = [p for n, p in model.named_parameters() if "lora_" not in n and "mlp" in n]
    adapters = [p for n, p in model.named_parameters() if "lora_" in n]
    word = lambda dtype: str(dtype).split(".")[-1]
    fields["/model_args/dtype"] = word(base[0].dtype)
    fields["/model_args/attn_implementation"] = model.config._attn_implementation
    fields["/peft"] = bool(adapters)
    if adapters:
        fields["/peft/adapter_dtype"] = word(adapters[0].dtype)
        config = model.peft_config["default"]
        fields["/peft/r"] = config.r
        adapted = [n.split(".lora_A")[0] for n, _ in model.named_parameters() if ".lora_A" in n]
        names = sorted({name.split(".")[-1] for name in adapted})
        fields["/peft/target_modules"] = ["all-linear"] if names == LINEARS else names
    if args.gradient_checkpointing:
        fields["/training/gradient_checkpointing_kwargs/use_reentrant"] = reentrant(model, args)
    return fields


def versions():
    found = {}
    for library in LIBRARIES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[library] = importlib.metadata.version(library)
    found["torch"] = torch.__version__.split("+")[0]
    return found


def write_golden(path, golden):
    """Reasons that stand in an older golden of that name stay."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        old = json.loads(path.read_text())
        if "differs" in old:
            golden = {**golden, "differs": old["differs"]}
    path.write_text(json.dumps(golden, indent=2, ensure_ascii=False) + "\n")
