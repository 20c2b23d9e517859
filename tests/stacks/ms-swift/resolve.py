"""What ms-swift's own argument classes and tuner make of commands, on a CPU: one golden a command.

    python tests/stacks/ms-swift/resolve.py [--only NAME] COMMANDS_FOLDER OUT_FOLDER

Run by the Python of a virtual environment that RELEASE.txt was installed into. A command is a text file,
"NPROC_PER_NODE=2 swift sft --model Qwen/Qwen2.5-7B ..."; draw.py writes such. Its words go to SftArguments,
PretrainArguments or RLHFArguments as the command line gives them. The model's config.json is that of the
preset, and its network is made on the meta device before ms-swift's tuner prepares it. Transformers' checks
of the device, DeepSpeed and vLLM are stood in for.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shlex
import tempfile
from unittest import mock

PRESETS = pathlib.Path(__file__).resolve().parents[3] / "presets" / "models"
HUB = pathlib.Path(tempfile.mkdtemp())
os.environ.update(MODELSCOPE_CACHE=str(HUB), HF_HUB_OFFLINE="1", USE_HF="1")

import torch
import transformers
from transformers import HfArgumentParser
from transformers.utils import import_utils

for owner in (transformers.utils, import_utils, transformers.training_args):
    if hasattr(owner, "is_torch_bf16_gpu_available"):
        setattr(owner, "is_torch_bf16_gpu_available", lambda: True)

try:  # 4.x
    from swift import arguments as classes
    from swift.pipelines.train.tuner import TunerMixin
    from swift.arguments import sft_args as arguments_module
    from swift.trainers.mixin import SwiftMixin
    CLASSES = {"sft": classes.SftArguments, "pt": classes.PretrainArguments, "rlhf": classes.RLHFArguments}
except ImportError:  # 3.x
    from swift.llm import argument as classes
    from swift.llm.train.pt import SwiftPt
    from swift.llm.train.tuner import TunerMixin
    from swift.llm.argument import train_args as arguments_module
    from swift.trainers.mixin import SwiftMixin
    CLASSES = {"sft": classes.TrainArguments, "pt": SwiftPt.args_class, "rlhf": classes.RLHFArguments}

TASKS = {"rm": "reward"}
ATTENTION = {"flash_attn": "flash_attention_2", None: "sdpa"}


def config_of(name):
    """The preset's config.json of a hub id, in a folder of that name."""
    path = PRESETS / (name.rsplit("/", 1)[-1].lower() + ".json")
    folder = HUB / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(json.loads(path.read_text())["config"]))
    return str(folder)


def split(command):
    """Variables before the command, its kind (sft, pt, rlhf) and its words."""
    words = shlex.split(command.replace("\\\n", " "))
    variables = {}
    while "=" in words[0]:
        key, value = words.pop(0).split("=", 1)
        variables[key] = value
    return variables, words[1], words[2:]


def placed(world):
    """In place of Transformers' own: looks at no device."""
    def set_up(self):
        self.distributed_state = mock.MagicMock(num_processes=world)
    return set_up


@contextlib.contextmanager
def stand_ins(world):
    """One process of several, none of which asks the machine for its GPUs."""
    with contextlib.ExitStack() as stack:
        if world > 1:
            stack.enter_context(mock.patch.dict(os.environ, {
                "RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": str(world), "LOCAL_WORLD_SIZE": str(world)}))
        for kind in (transformers.TrainingArguments, transformers.Seq2SeqTrainingArguments):
            stack.enter_context(mock.patch.object(kind, "__post_init__", placed(world)))
            stack.enter_context(mock.patch.object(kind, "n_gpu", 1))
        stack.enter_context(mock.patch.object(arguments_module, "require_version", lambda *a, **k: None, create=True))
        for name in ("SftArguments", "TrainArguments"):
            owner = getattr(arguments_module, name, None)
            for method in ("_init_device", "_add_version", "_init_external_vllm"):
                if owner is not None and hasattr(owner, method):
                    stack.enter_context(mock.patch.object(owner, method, lambda self: None))
        stack.enter_context(mock.patch.object(torch.cuda, "is_available", lambda: True))
        stack.enter_context(mock.patch.object(torch.cuda, "device_count", lambda: world))
        stack.enter_context(mock.patch.object(torch.cuda, "set_device", lambda *a: None))
        stack.enter_context(mock.patch.object(torch.cuda, "get_device_capability", lambda *a: (9, 0)))
        stack.enter_context(mock.patch.object(torch.cuda, "is_bf16_supported", lambda *a, **k: True))
        yield


def read(command):
    """The arguments object of a command."""
    variables, kind, words = split(command)
    world = int(variables.get("NPROC_PER_NODE", "1"))
    at = words.index("--model") + 1
    words[at] = config_of(words[at])
    with mock.patch.dict(os.environ, variables), stand_ins(world):
        args, rest = HfArgumentParser([CLASSES[kind]]).parse_args_into_dataclasses(words, return_remaining_strings=True)
    if rest:
        raise ValueError(f"left over: {rest}")
    return args, kind, world


def network_of(args):
    """The network as ms-swift's tuner prepares it, on the meta device."""
    config = transformers.AutoConfig.from_pretrained(args.model_dir)
    kind = transformers.AutoModelForCausalLM
    if args.model_meta.is_multimodal:
        kind = transformers.AutoModelForImageTextToText
    if args.task_type == "seq_cls":
        config.num_labels = args.num_labels or 2
        kind = transformers.AutoModelForSequenceClassification
    with torch.device("meta"):
        model = kind.from_config(config, torch_dtype=args.torch_dtype)
    model.model_info, model.model_meta, model.model_dir = args.model_info, args.model_meta, args.model_dir
    return TunerMixin.prepare_model(args, model)


def reentrant(args, world):
    """The value that the trainer's patch of torch.utils.checkpoint hands on."""
    fake = mock.MagicMock(args=args, is_deepspeed_enabled=bool(args.deepspeed), is_fsdp_enabled=bool(args.fsdp))
    checkpoint = torch.utils.checkpoint.checkpoint
    with mock.patch("swift.trainers.mixin.is_dist", lambda: world > 1):
        SwiftMixin._fix_gradient_checkpointing(fake)
    patched = torch.utils.checkpoint.checkpoint
    value = dict(zip(patched.__code__.co_freevars, (c.cell_contents for c in patched.__closure__)))["use_reentrant_"]
    torch.utils.checkpoint.checkpoint = checkpoint
    del torch.utils.checkpoint._old_checkpoint
    return value


def adapter_fields(args, network):
    """Of LoRA, as PEFT holds it in the prepared network."""
    peft = network.peft_config["default"]
    one = next(p for n, p in network.named_parameters() if "lora_A" in n)
    fields = {"/peft/r": peft.r, "/peft/lora_alpha": peft.lora_alpha, "/peft/lora_dropout": peft.lora_dropout,
              "/peft/use_dora": peft.use_dora, "/peft/use_rslora": peft.use_rslora, "/peft/bias": peft.bias,
              "/peft/adapter_dtype": str(one.dtype).split(".")[1]}
    if "all-linear" not in args.target_modules:
        fields["/peft/target_modules"] = list(args.target_modules)
    if args.modules_to_save:
        fields["/peft/modules_to_save"] = list(args.modules_to_save)
    return fields


def quantization_fields(args):
    """Of a base that bitsandbytes packs."""
    config = args.get_quantization_config()
    fields = {"/quantization/load_in_4bit": False, "/quantization/load_in_8bit": False}
    if config is None or args.quant_method != "bnb":
        return fields
    if config.load_in_8bit:
        return {"/quantization/load_in_8bit": True}
    return {"/quantization/load_in_4bit": True,
            "/quantization/bnb_4bit_quant_type": config.bnb_4bit_quant_type,
            "/quantization/bnb_4bit_use_double_quant": config.bnb_4bit_use_double_quant,
            "/quantization/bnb_4bit_compute_dtype": str(config.bnb_4bit_compute_dtype).split(".")[1]}


def parallel_fields(args, world):
    """Of several processes: DeepSpeed by the file that its name stands for, else DDP."""
    fields = {"/parallel/num_gpus": world, "/parallel/strategy": "ddp"}
    if not args.deepspeed:
        return fields
    zero = args.deepspeed["zero_optimization"]
    fields["/parallel/strategy"] = f"zero{zero['stage']}" if zero["stage"] else "ddp"
    if zero["stage"]:
        for part in ("offload_optimizer", "offload_param"):
            device = zero.get(part, {}).get("device", "none")
            fields[f"/parallel/zero_optimization/{part}/device"] = device
        fields["/parallel/zero_optimization/overlap_comm"] = zero.get("overlap_comm", False)
    return fields


def rl_fields(args, command):
    """Of preference and reinforcement learning."""
    fields = {"/rl/beta": args.beta}
    if args.rlhf_type in ("cpo", "orpo"):
        return {} if args.rlhf_type == "orpo" else {"/rl/cpo_alpha": args.cpo_alpha}
    if args.rlhf_type == "rm":
        return {}
    if args.rlhf_type == "grpo":
        config = args.training_args
        fields.update({"/rl/num_generations": args.num_generations, "/rl/num_iterations": args.num_iterations,
                       "/rl/max_completion_length": args.max_completion_length, "/rl/use_vllm": args.use_vllm,
                       "/rl/temperature": args.temperature,
                       "/rl/steps_per_generation": config.steps_per_generation or config.gradient_accumulation_steps})
        if "--max_length" in command:  # else as long as the model can read
            fields["/rl/max_prompt_length"] = args.max_length
        if args.use_vllm:
            fields["/rl/vllm_mode"] = args.vllm_mode
            if args.vllm_mode == "colocate":
                fields["/rl/vllm_gpu_memory_utilization"] = args.vllm_gpu_memory_utilization
                fields["/rl/vllm_enable_sleep_mode"] = args.sleep_level > 0
    full = getattr(args, "tuner_type", getattr(args, "train_type", "")) == "full"
    reference = "none" if args.beta == 0 else "copy" if full else "adapter_off"
    fields["/rl/reference_model"] = reference
    return fields


def fields_of(args, kind, world, network, command):
    """Contract fields that the arguments resolved."""
    made = args.training_args
    peft = hasattr(network, "peft_config")
    task = {"sft": "sft", "pt": "pretrain"}.get(kind) or TASKS.get(args.rlhf_type, args.rlhf_type)
    if task == "cpo" and args.loss_type == "simpo":
        task = "simpo"
    fields = {
        "/task": task, "/peft": peft,
        "/model_args/dtype": str(args.torch_dtype).split(".")[1],
        "/model_args/attn_implementation": ATTENTION.get(args.attn_impl, args.attn_impl),
        "/training/bf16": bool(args.bf16), "/training/fp16": bool(args.fp16),
        "/training/per_device_train_batch_size": made.per_device_train_batch_size,
        "/training/gradient_accumulation_steps": made.gradient_accumulation_steps,
        "/training/gradient_checkpointing": bool(made.gradient_checkpointing),
        "/training/packing": bool(args.packing),
        "/training/truncation_strategy": "drop" if args.truncation_strategy == "delete" else "truncate",
        "/training/eval_strategy": getattr(made.eval_strategy, "value", made.eval_strategy),
        "/training/use_liger_kernel": bool(made.use_liger_kernel),
        "/training/optim": getattr(made.optim, "value", made.optim),
    }
    if made.gradient_checkpointing:
        fields["/training/gradient_checkpointing_kwargs/use_reentrant"] = reentrant(made, world)
    # Where none is given args.max_length is the model's own, which caps samples and is no length of theirs; packed rows
    # are filled up to it.
    if (kind != "rlhf" or args.rlhf_type not in ("grpo", "ppo")) and ("--max_length" in command or args.packing):
        fields["/training/max_length"] = args.max_length
    if args.padding_free or args.packing:
        fields["/training/padded_batches"] = False
    if fields["/training/eval_strategy"] != "no":
        fields["/training/per_device_eval_batch_size"] = made.per_device_eval_batch_size
    fields.update(quantization_fields(args))
    if world > 1:
        fields.update(parallel_fields(args, world))
    if args.model_meta.is_multimodal:
        fields["/vision/freeze_vision_tower"] = bool(args.freeze_vit)
    if kind == "rlhf":
        fields.update(rl_fields(args, command))
    if peft and any("lora_A" in n for n, _ in network.named_parameters()):
        fields.update(adapter_fields(args, network))
    return fields


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("commands", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--raise", action="store_true", dest="loud")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    libraries = {"transformers": transformers.__version__, "torch": torch.__version__.split("+")[0]}
    for name in ("trl", "peft"):
        libraries[name] = __import__(name).__version__
    for path in sorted(options.commands.glob("*.sh")):
        if options.only not in path.name:
            continue
        command = path.read_text()
        try:
            args, kind, world = read(command)
            network = network_of(args)
            fields = fields_of(args, kind, world, network, command)
        except (Exception, SystemExit) as error:  # what ms-swift refuses
            if options.loud:
                raise
            print(f"{path.name}: {type(error).__name__}: {str(error)[:200]}")
            continue
        golden = {"source": f"ms-swift {options.out.name}", "versions": libraries, "text": command, "fields": fields,
                  "trainable": sum(p.numel() for p in network.parameters() if p.requires_grad)}
        place = options.out / (path.stem + ".json")
        if place.exists() and "differs" in json.loads(place.read_text()):
            golden["differs"] = json.loads(place.read_text())["differs"]
        place.write_text(json.dumps(golden, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
