"""Unsloth's defaults, read from the source of the installed package: it does not import
without a GPU. One golden for each of the scripts
and requests below.

    python resolve.py [--only NAME] OUT_FOLDER

Read are the signatures of FastLanguageModel.from_pretrained and get_peft_model
(unsloth/models/loader.py, llama.py), the arguments that replace those of TRL's
configuration classes (unsloth/models/rl.py) and the gate of the fused adapters
(unsloth/models/llama.py patch_peft_model).
"""

import argparse
import ast
import importlib.metadata
import json
import re
from pathlib import Path

LOAD = """from unsloth import FastLanguageModel

model, tokenizer = FastLanguageModel.from_pretrained("unsloth/Llama-3.2-1B"{load})
model = FastLanguageModel.get_peft_model(model{peft})
"""
SCRIPTS = {
    "loaded": ({}, {}),
    "loaded_in_8_bits": ({"load_in_8bit": True, "load_in_4bit": False}, {}),
    "loaded_in_16_bits": ({"load_in_4bit": False}, {}),
    "adapters_with_dropout": ({"max_seq_length": 4096}, {"lora_dropout": 0.1}),
}
REQUESTS = {
    "default_sft": {"task": "sft"},
    "default_dpo": {"task": "dpo"},
    "default_orpo": {"task": "orpo"},
    "default_kto": {"task": "kto"},
    "default_grpo": {"task": "grpo"},
}
TRAINER = {
    "per_device_train_batch_size": "/training/per_device_train_batch_size",
    "gradient_accumulation_steps": "/training/gradient_accumulation_steps",
    "per_device_eval_batch_size": "/training/per_device_eval_batch_size",
    "eval_accumulation_steps": "/training/eval_accumulation_steps",
    "torch_empty_cache_steps": "/training/torch_empty_cache_steps",
    "optim": "/training/optim",
}


def source(name):
    """The text of a file of the installed package."""
    return Path(importlib.metadata.distribution("unsloth").locate_file(name)).read_text()


def value(node, names=None):
    """A literal, or a constant of the module."""
    if isinstance(node, ast.Name) and names and node.id in names:
        node = names[node.id]
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("tuple", "list"):
        node = node.args[0]
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def constants(tree):
    """What a module's own names stand for."""
    pairs = [(n.targets[0], n.value) for n in tree.body if isinstance(n, ast.Assign)]
    return {target.id: node for target, node in pairs if isinstance(target, ast.Name)}


def signature(text, function, owner=None):
    """Arguments and defaults of a function, or of a method of `owner`."""
    tree = ast.parse(text)
    known = constants(tree)
    if owner is not None:
        tree = next(n for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and n.name == owner)
    found = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == function)
    names = [a.arg for a in found.args.args]
    defaults = found.args.defaults
    return dict(zip(names[len(names) - len(defaults):], (value(d, known) for d in defaults)))


def replacements(text):
    """The dictionaries called `replacements` of rl.py: the first for all trainers, the second for GRPO."""
    found = []
    for node in ast.walk(ast.parse(text)):
        named = isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "replacements"
        if named and isinstance(node.value, ast.Dict):
            keys = [value(key) for key in node.value.keys]
            found.append((node.lineno, dict(zip(keys, map(value, node.value.values)))))
    return [made for _, made in sorted(found, key=lambda pair: pair[0])]


def loaded_fields(load, peft):
    """What the two calls make of their arguments."""
    loader = {**signature(source("unsloth/models/loader.py"), "from_pretrained", "FastLanguageModel"), **load}
    llama = source("unsloth/models/llama.py")
    adapters = {**signature(llama, "get_peft_model", "FastLlamaModel"), **peft}
    always = re.search(r"lora_dropout == 0 or _fast_lora\.FUSED_LORA_DROPOUT", llama) is not None
    checkpointing = adapters["use_gradient_checkpointing"]
    return {
        "/quantization/load_in_4bit": loader["load_in_4bit"],
        "/quantization/load_in_8bit": loader["load_in_8bit"],
        "/training/max_length": loader["max_seq_length"],
        "/peft/r": adapters["r"],
        "/peft/target_modules": adapters["target_modules"],
        "/training/gradient_checkpointing": bool(checkpointing),
        "/training/offload_checkpoints": checkpointing == "unsloth",
        "/training/fused_lora": adapters["bias"] == "none" and (adapters["lora_dropout"] == 0 or always),
    }


def trainer_fields(task):
    """What the arguments of TRL's classes are replaced by."""
    everyone, grpo, *_ = replacements(source("unsloth/models/rl.py"))
    fields = {pointer: everyone[name] for name, pointer in TRAINER.items()}
    if task == "grpo":
        # None is resolved below: 0 for TRL's default loss, dapo.
        fields["/rl/beta"] = grpo["beta"] if grpo["beta"] is not None else 0.0
        fields["/rl/num_generations"] = everyone["num_generations"]
    return fields


def called(arguments):
    return "".join(f", {name}={value!r}" for name, value in arguments.items())


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only")
    options.add_argument("folders", type=Path, nargs="+", help="the last is where goldens go; no others are read")
    given = options.parse_args()
    version = importlib.metadata.version("unsloth")
    goldens = {}
    for name, (load, peft) in SCRIPTS.items():
        text = LOAD.format(load=called(load), peft=called(peft))
        goldens[name] = {"text": text, "fields": loaded_fields(load, peft)}
    for name, request in REQUESTS.items():
        fields = trainer_fields(request["task"])
        goldens[name] = {"request": {"stack": "unsloth", "peft": {}, **request}, "fields": fields}
    given.folders[-1].mkdir(parents=True, exist_ok=True)
    for name, golden in goldens.items():
        if given.only and name != given.only:
            continue
        source_files = "unsloth/models/loader.py, llama.py, rl.py"
        golden = {"source": f"unsloth {version} {source_files}", "versions": {"unsloth": version}, **golden}
        (given.folders[-1] / f"{name}.json").write_text(json.dumps(golden, indent=2) + "\n")


if __name__ == "__main__":
    main()
