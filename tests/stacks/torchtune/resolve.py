"""What torchtune's recipes make of configurations, on a CPU: one golden a file.

    python tests/stacks/torchtune/resolve.py [--only NAME] CONFIGS_FOLDER OUT_FOLDER

Run by the Python of a virtual environment that RELEASE.txt was installed into. The recipe that a file's
comments name ("tune run --nproc_per_node 2 lora_finetune_distributed ...") reads the file with its own
__init__ and setup(); the model is built by its own builder, at full size on the meta device. Checkpoints,
tokenizers, data and the process group are stand-ins, and one CUDA device of the Hopper kind is claimed:
nothing is ever put on it. Recipes for reinforcement learning set up other things and are left out; the
DPO recipes of the main branch die at an import (rlhf/loss/dpo.py), those of the releases run.
"""

import argparse
import collections
import contextlib
import importlib.machinery
import importlib.util
import json
import pathlib
import re
import sys
from unittest import mock

import torch
import yaml
from omegaconf import OmegaConf

for _name in ("", ".transforms", ".transforms.v2", ".transforms.functional", ".transforms.v2.functional"):
    _spec = importlib.machinery.ModuleSpec("torchvision" + _name, None)
    sys.modules[_spec.name] = mock.MagicMock(__spec__=_spec)  # reads images alone, and its builds ask for CUDA

import torchtune
from torchtune import config, training
from torchtune.modules.peft import get_adapter_params, set_trainable_params

COMMAND = re.compile(r"tune run (.*?)([\w/.]+) --config")
PROCESSES = re.compile(r"--nproc[_-]per[_-]node[ =](\d+)")
RECIPES = pathlib.Path(torchtune.__file__).parent.parent / "recipes"
SETTINGS = {  # what a golden repeats of a configuration; the rest changes nothing in memory
    "model": None, "dataset": ("_component_", "packed", "train_on_input"), "dataset_val": ("_component_", "packed"),
    "tokenizer": ("_component_", "max_seq_len"), "optimizer": ("_component_", "fused", "foreach", "offload_gradients"),
    "loss": ("_component_", "beta", "num_output_chunks"), "teacher_model": None, "kd_loss": ("_component_",),
    "quantizer": None, "checkpointer": ("_component_", "model_type"), "metric_logger": ("_component_",),
    "batch_size": None, "batch_size_val": None, "epochs": None, "max_steps_per_epoch": None,
    "gradient_accumulation_steps": None, "clip_grad_norm": None, "optimizer_in_bwd": None, "compile": None,
    "device": None, "dtype": None, "enable_activation_checkpointing": None, "enable_activation_offloading": None,
    "ac_mode": None, "ac_option": None, "fsdp_cpu_offload": None, "fsdp_reshard_after_forward": None,
    "tensor_parallel_dim": None, "tensor_parallel_plan": None, "context_parallel_dim": None,
    "data_parallel_replicate_dim": None, "data_parallel_shard_dim": None, "run_val_every_n_steps": None,
    "custom_sharded_layers": None, "low_cpu_ram": None, "save_adapter_weights_only": None,
}
MODULES = {"output_proj": "o_proj", "w1": "gate_proj", "w2": "down_proj", "w3": "up_proj", "output": "lm_head"}
LOSSES = {"CrossEntropyLoss": "stock", "CEWithChunkedOutputLoss": "torchtune_chunked",
          "LinearCrossEntropyLoss": "torchtune_linear"}
OPTIMIZERS = {"AdamW8bit": "adamw_8bit", "PagedAdamW8bit": "paged_adamw_8bit", "PagedAdamW": "paged_adamw_32bit",
              "PagedAdamW32bit": "paged_adamw_32bit", "SGD": "sgd", "Adafactor": "adafactor",
              "Lion8bit": "lion_8bit", "PagedLion8bit": "paged_lion_8bit"}


class Data:
    """A data loader of 1,000 batches; early releases take it apart as (sampler, loader)."""

    def __len__(self):
        return 1000

    def __iter__(self):
        return iter((self, self))

    def state_dict(self):
        return {}


def load_recipe(name):
    """The module of a recipe and its class."""
    path = RECIPES / (name if name.endswith(".py") else name + ".py")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    classes = [c for n, c in vars(module).items() if isinstance(c, type) and c.__module__ == path.stem]
    return module, classes[-1]


def build(cfg):
    """The network of a model section; NF4 tensors cannot be made on the meta device, their shapes can."""
    cfg = OmegaConf.create(OmegaConf.to_container(cfg, resolve=True))
    packed = "qlora_" in cfg._component_ or cfg.get("quantize_base", False)
    cfg._component_ = cfg._component_.replace("qlora_", "lora_")
    cfg.pop("quantize_base", None)
    with torch.device("meta"):
        model = REAL_INSTANTIATE(cfg)
    adapters = get_adapter_params(model)
    if adapters:
        set_trainable_params(model, adapters)
    return model, packed


REAL_INSTANTIATE = config.instantiate


def instantiate(cfg, *args, **kwargs):
    """Only losses are real: what they are decides how the model is called."""
    if cfg is None:
        return mock.MagicMock()
    if ".loss" in cfg._component_.lower() or cfg._component_.endswith("Loss"):
        return REAL_INSTANTIATE(cfg, *args, **kwargs)
    return mock.MagicMock()


@contextlib.contextmanager
def one_hopper(module, world):
    """Answers what recipes ask about devices and processes."""
    answers = {"is_available": True, "device_count": world, "get_device_capability": (9, 0), "current_device": 0,
               "set_device": None, "is_bf16_supported": True, "memory_allocated": 0, "get_device_name": "H100"}
    with contextlib.ExitStack() as stack:
        for name, answer in answers.items():
            stack.enter_context(mock.patch.object(torch.cuda, name, lambda *a, _x=answer, **k: _x))
        stack.enter_context(mock.patch.object(torch.distributed, "is_nccl_available", lambda: True))
        stack.enter_context(mock.patch("torch.cuda.nccl.version", lambda: (2, 20, 5)))
        stack.enter_context(mock.patch.object(torchtune.utils._device, "_validate_device_from_env", lambda d: None))
        for name in ("init_process_group", "CheckpointClient"):
            if hasattr(module, name):
                stack.enter_context(mock.patch.object(module, name, mock.MagicMock()))
        if hasattr(training, "set_torch_num_threads"):
            stack.enter_context(mock.patch.object(training, "set_torch_num_threads", lambda: None))
        for owner in (training, torchtune.utils):
            if hasattr(owner, "get_world_size_and_rank"):
                stack.enter_context(mock.patch.object(owner, "get_world_size_and_rank", lambda: (world, 0)))
        if hasattr(training, "ParallelDims"):
            stack.enter_context(mock.patch.object(training.ParallelDims, "build_mesh", mock.MagicMock()))
        stack.enter_context(mock.patch.object(config, "instantiate", instantiate))
        stack.enter_context(mock.patch.object(torch, "compile", lambda f=None, **k: f))
        yield


def run(cfg, name, world):
    """Sets the recipe up, and returns it with the arguments of its parts."""
    module, recipe_class = load_recipe(name)
    seen = {}

    def part(called, answer):
        def record(self, *args, **kwargs):
            seen.setdefault(called, kwargs)
            return answer(*args, **kwargs)
        return record

    def model(*args, **kwargs):
        seen["network"], seen["packed"] = build(kwargs["cfg_model"])
        return seen["network"]

    parts = {"_setup_model": model, "_setup_teacher_model": mock.MagicMock(),
             "_setup_reference_model": mock.MagicMock(), "_setup_optimizer": mock.MagicMock(),
             "_setup_data": lambda *a, **k: Data(), "_setup_lr_scheduler": mock.MagicMock(),
             "_setup_profiler": mock.MagicMock(),
             "load_checkpoint": lambda *a, **k: collections.defaultdict(dict),
             "load_teacher_checkpoint": lambda *a, **k: collections.defaultdict(dict),
             "load_reference_checkpoint": lambda *a, **k: collections.defaultdict(dict)}
    with contextlib.ExitStack() as stack:
        stack.enter_context(one_hopper(module, world))
        for called, answer in parts.items():
            if hasattr(recipe_class, called):
                stack.enter_context(mock.patch.object(recipe_class, called, part(called, answer)))
        recipe = recipe_class(cfg)
        recipe._device = torch.device("meta")
        recipe.setup(cfg)
    return recipe, seen


def optimizer_of(section):
    """The field's name of an optimizer section."""
    name = section._component_.rsplit(".", 1)[-1]
    if "torch.optim" in section._component_ and name in ("AdamW", "Adam"):
        return "adamw_torch_fused" if section.get("fused") else "adamw_torch"
    return OPTIMIZERS.get(name)


def adapters_of(network):
    """Which linears have adapters, by their own attributes."""
    found, one = set(), None
    for path, module in network.named_modules():
        if hasattr(module, "lora_a"):
            found.add(path.rsplit(".", 1)[-1])
            one = module
    return sorted(MODULES.get(n, n) for n in found), one


def fields_of(cfg, recipe, seen, world):
    """Contract fields that the recipe resolved."""
    model, network = seen["_setup_model"], seen["network"]
    in_backward = getattr(recipe, "_optimizer_in_bwd", getattr(recipe, "optimizer_in_bwd", False))
    compiled = getattr(recipe, "_compile", getattr(recipe, "_compile_model", model.get("compile_model", False)))
    loss = type(recipe._loss_fn).__name__
    data = cfg.dataset if "packed" in cfg.dataset else {}
    packed = bool(data.get("packed", False))
    fields = {
        "/task": "dpo" if "DPO" in type(recipe).__name__ else "sft",
        "/model_args/dtype": str(recipe._dtype).split(".")[1],
        "/model_args/attn_implementation": "flex_attention" if packed else "sdpa",
        "/training/per_device_train_batch_size": seen["_setup_data"]["batch_size"],
        "/training/gradient_accumulation_steps": recipe._gradient_accumulation_steps,
        "/training/gradient_checkpointing": bool(model["enable_activation_checkpointing"]),
        "/training/activation_offloading": bool(model.get("enable_activation_offloading", False)),
        "/training/torch_compile": bool(compiled),
        "/training/optimizer_in_backward": bool(in_backward),
        "/training/packing": packed,
        "/training/padded_batches": False,
        "/training/eval_strategy": "steps" if getattr(recipe, "_run_val_every_n_steps", None) else "no",
        "/quantization/load_in_4bit": bool(seen["packed"]),
        "/peft": False,
    }
    if optimizer_of(cfg.optimizer):
        fields["/training/optim"] = optimizer_of(cfg.optimizer)
    if loss in LOSSES:
        fields["/training/loss_kernel"] = LOSSES[loss]
    if cfg.tokenizer.get("max_seq_len"):
        fields["/training/max_length"] = cfg.tokenizer.max_seq_len
    if fields["/training/eval_strategy"] == "steps":
        fields["/training/per_device_eval_batch_size"] = cfg.get("batch_size_val", cfg.batch_size)
        fields["/training/eval_packing"] = bool(cfg.dataset_val.get("packed", False))
        if loss in LOSSES:
            fields["/training/eval_loss_kernel"] = LOSSES[loss]
    if fields["/training/gradient_checkpointing"]:
        fields["/training/gradient_checkpointing_kwargs/use_reentrant"] = False
    if world > 1:
        fields["/parallel/num_gpus"] = world
        fields["/parallel/strategy"] = "fsdp2"
        fields["/parallel/fsdp_config/offload_params"] = bool(model["fsdp_cpu_offload"])
        fields["/parallel/fsdp_config/reshard_after_forward"] = bool(model["reshard_after_forward"])
    targets, adapter = adapters_of(network)
    if adapter is not None:
        rank = adapter.lora_a.out_features
        fields.update({"/peft": True, "/peft/r": rank,
                       "/peft/lora_alpha": getattr(adapter, "alpha", None) or adapter.scaling * rank,
                       "/peft/lora_dropout": getattr(adapter.dropout, "p", 0.0), "/peft/use_dora": hasattr(adapter, "magnitude"),
                       "/peft/target_modules": targets, "/peft/adapter_dtype": fields["/model_args/dtype"]})
    return fields


def settings_of(cfg):
    """The settings of a configuration that matter."""
    content = OmegaConf.to_container(cfg, resolve=False)
    kept = {}
    for key, inner in SETTINGS.items():
        if key not in content:
            continue
        value = content[key]
        if inner and isinstance(value, dict):
            value = {k: v for k, v in value.items() if k in inner}
        kept[key] = value
    return kept


def resolve(path, release):
    """The golden of one configuration, or why there is none."""
    text = path.read_text()
    command = COMMAND.search(text)
    if command is None:
        return None, "no command in its comments"
    processes = PROCESSES.search(command.group(1))
    world, name = int(processes.group(1)) if processes else 1, command.group(2)
    if not (RECIPES / (name + ".py")).exists():
        return None, f"no recipe {name} in this release"
    cfg = OmegaConf.load(path)
    recipe, seen = run(cfg, name, world)
    kept = settings_of(cfg)
    golden = {"source": f"torchtune {release} {path.name}",
              "versions": {"torch": torch.__version__.split("+")[0]}}
    if world > 1 or "dataset_val" in kept:  # what starts it stands in a comment alone
        processes = f"--nproc_per_node {world} " if world > 1 else ""
        launch = f"# tune run {processes}{name} --config {path.name}\n"
        golden["text"] = launch + yaml.safe_dump(kept, sort_keys=False)
    else:
        golden["config"] = kept
    golden["fields"] = fields_of(cfg, recipe, seen, world)
    golden["trainable"] = sum(p.numel() for p in seen["network"].parameters() if p.requires_grad)
    return golden, ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("configs", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for path in sorted(options.configs.glob("*.yaml")):
        if options.only not in path.name:
            continue
        try:
            golden, problem = resolve(path, options.out.name)
        except Exception as error:  # what the recipe refuses
            golden, problem = None, f"{type(error).__name__}: {str(error)[:160]}"
        if golden is None:
            print(f"{path.name}: {problem}")
            continue
        place = options.out / (path.stem + ".json")
        if place.exists() and "differs" in json.loads(place.read_text()):
            golden["differs"] = json.loads(place.read_text())["differs"]
        place.write_text(json.dumps(golden, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
