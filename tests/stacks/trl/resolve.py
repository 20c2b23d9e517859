"""What TRL's trainers make of the scripts beside this file, one golden each.

    python resolve.py [--only NAME] [SCRIPTS_FOLDER] OUT_FOLDER

A script that a release refuses (an argument it does not know, a trainer that it does
not have) gives no golden; the reason is printed. Scripts named default_TASK become
requests: they hold nothing but the stack and the task.
"""

import argparse
import importlib
import inspect
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import scripts
import trl

TASKS = {
    "SFTTrainer": "sft", "DPOTrainer": "dpo", "ORPOTrainer": "orpo", "KTOTrainer": "kto",
    "CPOTrainer": "cpo", "RewardTrainer": "reward", "GRPOTrainer": "grpo",
    "RLOOTrainer": "rloo", "PPOTrainer": "ppo",
}
POINTERS = {
    "beta": "/rl/beta",
    "max_completion_length": "/rl/max_completion_length",
    "num_generations": "/rl/num_generations",
    "steps_per_generation": "/rl/steps_per_generation",
    "num_iterations": "/rl/num_iterations",
    "temperature": "/rl/temperature",
    "use_vllm": "/rl/use_vllm",
    "precompute_ref_log_probs": "/rl/precompute_ref_log_probs",
    "cpo_alpha": "/rl/cpo_alpha",
}
PPO = {
    "kl_coef": "/rl/beta",
    "response_length": "/rl/max_completion_length",
    "temperature": "/rl/temperature",
}
VLLM = ("vllm_mode", "vllm_gpu_memory_utilization", "vllm_enable_sleep_mode")


def older_homes():
    """Trainers that moved to trl.experimental answer to their first names too."""
    for trainer, task in TASKS.items():
        for name in (trainer, trainer.replace("Trainer", "Config")):
            try:
                getattr(trl, name)
            except (AttributeError, ImportError):
                try:
                    home = importlib.import_module(f"trl.experimental.{task}")
                    setattr(trl, name, getattr(home, name))
                except (AttributeError, ImportError):
                    pass


def take_tokenizer():
    """Before 0.12 and in the experimental trainers a tokenizer must be given; scripts leave it out."""
    from transformers import AutoTokenizer

    for name in TASKS:
        trainer = getattr(trl, name, None)
        if trainer is None:
            continue
        made = trainer.__init__
        names = inspect.signature(made).parameters
        key = "processing_class" if "processing_class" in names else "tokenizer"

        def init(self, *args, made=made, key=key, **named):
            if named.get(key) is None:
                named[key] = AutoTokenizer.from_pretrained("meta-llama/Llama-3.2-1B")
            made(self, *args, **named)

        trainer.__init__ = init


def loss_kernel(task, trainer, args):
    """The kernel that the trainer has put in place; None where nothing shows it."""
    model = trainer.model
    base = model.get_base_model() if hasattr(model, "peft_config") else model
    forward = getattr(base.forward, "__func__", base.forward)
    if "fused_lm_head" in forward.__code__.co_varnames:  # trl.trainer.utils.add_fused_lm_head
        return "fused_lm_head"
    module = inspect.getmodule(type(trainer))
    if args.use_liger_kernel and task != "sft" and hasattr(module, "_ChunkedLogProbFunction"):
        return "fused_lm_head"
    if args.use_liger_kernel or getattr(args, "use_liger_loss", False):
        return None  # Liger's own: which one, its settings and the task say
    if task == "sft" and getattr(args, "loss_type", "nll") == "chunked_nll":
        return "chunked_nll"
    return "stock"


def reference(task, trainer, args):
    """How the trainer holds the policy that it compares with."""
    if getattr(args, "precompute_ref_log_probs", False):
        return "none"
    if task in ("grpo", "rloo") and args.beta == 0:
        return "none"
    if getattr(trainer, "ref_model", None) is not None:
        return "copy"
    config = getattr(trainer.model, "peft_config", {})
    if "ref" in config:
        return "adapter_copy"
    return "adapter_off" if config else "none"


def fields_of(task, found):
    args = found.args
    fields = scripts.argument_fields(args)
    for name, pointer in (PPO if hasattr(args, "response_length") else POINTERS).items():
        if getattr(args, name, None) is not None:
            fields[pointer] = getattr(args, name)
    if getattr(args, "use_vllm", False):
        for name in VLLM:
            if hasattr(args, name):
                fields[f"/rl/{name}"] = getattr(args, name)
    length = getattr(args, "max_length", getattr(args, "max_seq_length", None))
    length = getattr(found.trainer, "max_length", None) or length  # what the trainer made of None
    if length is not None and task not in ("grpo", "rloo", "ppo"):
        fields["/training/max_length"] = length
    if task == "sft" and hasattr(args, "eval_packing"):
        given = args.eval_packing
        fields["/training/eval_packing"] = args.packing if given is None else given
    if found.trainer is not None:
        kernel = loss_kernel(task, found.trainer, args)
        if kernel is not None:
            fields["/training/loss_kernel"] = kernel
        fields.update(scripts.model_fields(found.trainer.model, args))
        if task in ("dpo", "kto", "grpo", "rloo"):
            fields["/rl/reference_model"] = reference(task, found.trainer, args)
    return fields


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only")
    options.add_argument("folders", type=Path, nargs="+")
    given = options.parse_args()
    own = Path(__file__).resolve().with_name("scripts")
    configs, out = [own, *(folder.resolve() for folder in given.folders)][-2:]
    scripts.fake_gpu()
    older_homes()
    take_tokenizer()
    versions = scripts.versions()
    with scripts.stand_ins():
        for path in sorted(configs.glob("*.py")):
            if given.only and path.stem != given.only:
                continue
            found = scripts.run_script(path)
            if found.problem:
                print(f"{path.stem}: {found.problem}")
            default = path.stem.startswith("default_")
            if found.args is None or (found.refused and not default):
                continue
            task = TASKS[type(found.args).__name__.replace("Config", "Trainer")]
            golden = {"source": f"trl {versions['trl']} {type(found.args).__name__}", "versions": versions}
            if default:
                golden["request"] = {"stack": "trl", "task": task}
            else:
                golden["text"] = found.text
            golden["fields"] = fields_of(task, found)
            scripts.write_golden(out / f"{path.stem}.json", golden)


if __name__ == "__main__":
    main()
