"""Runs tiny models through the training stacks' own entry points and writes what they had in memory.

    python run.py [--only NAME] [--held-back] STACK OUT_FOLDER      every drawn run of a stack (runs.json), one process each
    python run.py --one STACK NAME                                   one run, in this process; prints its golden

STACK is hf, trl, axolotl or llamafactory; each needs its own environment (STACK.txt). A golden is {"config" or nothing,
"request", "versions", "measured"}; the reasons of an older golden ("differs") are kept. --explain INSTANT lists what was
alive at an instant's highest moment.
"""

import argparse
import importlib
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import types
from importlib import metadata

HERE = pathlib.Path(__file__).parent
os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", TOKENIZERS_PARALLELISM="false", CUDA_VISIBLE_DEVICES="",
                  WANDB_DISABLED="true", TRL_EXPERIMENTAL_SILENCE="1", ACCELERATE_USE_CPU="true", DO_NOT_TRACK="1")
# Under these names the importers know a model of the same kind; its shapes are the tiny one's.
KNOWN_AS = {"llama": "meta-llama/Llama-3.2-1B", "qwen2": "Qwen/Qwen2.5-0.5B", "gemma": "google/gemma-2b"}
LIBRARIES = ("torch", "transformers", "peft", "trl", "accelerate", "axolotl", "llamafactory")
IN_REQUEST = ("torch", "transformers", "peft", "trl")


def versions():
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name).split("+")[0]
        except metadata.PackageNotFoundError:
            pass
    return found


def folder_of(run):
    """A model and its tokenizer as from_pretrained finds them."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast

    folder = pathlib.Path(tempfile.mkdtemp()) / run["model"]
    fields = dict(json.loads((HERE / "runs.json").read_text())["models"][run["model"]])
    kind = fields.pop("model_type")
    config = AutoConfig.for_model(kind, pad_token_id=0, bos_token_id=1, eos_token_id=2, **fields)
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    model.save_pretrained(folder)
    words = {"<pad>": 0, "<s>": 1, "</s>": 2, "<unk>": 3, **{f"w{i}": i for i in range(4, config.vocab_size)}}
    words_to_ids = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    words_to_ids.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words_to_ids, pad_token="<pad>", bos_token="<s>", eos_token="</s>",
                                        unk_token="<unk>")
    tokenizer.chat_template = "{% for m in messages %}{{ m['content'] }} {% endfor %}"
    tokenizer.save_pretrained(folder)
    return str(folder)


def take_our_tokenizer():
    """Transformers 5 would read the folder of a Qwen2 with Qwen2's own tokenizer, which knows none of our words."""
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    AutoTokenizer.from_pretrained = PreTrainedTokenizerFast.from_pretrained


def do_without(library):
    """Stands for a library that the stack imports and these runs never call."""
    if importlib.util.find_spec(library) is None:
        module = types.ModuleType(library)
        module.__spec__ = importlib.machinery.ModuleSpec(library, None)
        sys.modules[library] = module


def words(count, first=0):
    return " ".join(f"w{4 + (7 * (i + first)) % 2000}" for i in range(count))


def run_one(run, explain):
    sys.path.insert(0, str(HERE))
    from tracker import Tracker

    tracker = Tracker(explain=bool(explain))
    folder = folder_of(run)
    take_our_tokenizer()
    request, config = importlib.import_module(f"{run['stack']}_run").run(run, folder)
    fields = dict(json.loads((HERE / "runs.json").read_text())["models"][run["model"]])
    request["model"] = {"config": {**fields, "torch_dtype": "bfloat16"}, "name": f"tiny {run['model']}"}
    request["hardware"] = {"gpu": "a100-sxm-80"}
    found = versions()
    request["versions"] = {k: v for k, v in found.items() if k in IN_REQUEST}
    golden = {"source": f"{run['stack']}, {run['name']} of runs.json", "versions": found}
    if config:
        config[next(iter(config))] = KNOWN_AS[run["model"]]
        golden["config"] = config
    golden.update(request=request, measured=tracker.measured())
    for row in tracker.explained(explain) if explain else ():
        print(*row, file=sys.stderr)
    return golden


def write(path, golden):
    if path.exists():
        golden["differs"] = json.loads(path.read_text()).get("differs", {})
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(golden, indent=1)
    flat = re.sub(r"\[\s+([^\[\]{}]*?)\s+\]", lambda m: "[" + re.sub(r"\s*\n\s*", " ", m[1]) + "]", text)
    path.write_text(flat + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--one", action="store_true")
    parser.add_argument("--only")
    parser.add_argument("--held-back", action="store_true")
    parser.add_argument("--explain", default="")
    parser.add_argument("stack")
    parser.add_argument("target")
    args = parser.parse_args()
    runs = [r for r in json.loads((HERE / "runs.json").read_text())["runs"] if r["stack"] == args.stack]
    if args.one:
        golden = run_one(next(r for r in runs if r["name"] == args.target), args.explain)
        print("\nGOLDEN " + json.dumps(golden))
        return
    for run in runs:
        if run.get("held_back", False) != args.held_back or args.only not in (None, run["name"]):
            continue
        command = [sys.executable, __file__, "--one", args.stack, run["name"]]
        done = subprocess.run(command, capture_output=True, text=True)
        lines = [line for line in done.stdout.splitlines() if line.startswith("GOLDEN ")]
        if not lines:
            print(run["name"], "failed:", done.stderr[-2000:], file=sys.stderr)
            continue
        write(pathlib.Path(args.target) / args.stack / f"{run['name']}.json", json.loads(lines[-1][7:]))
        print(run["name"], "done", file=sys.stderr)


if __name__ == "__main__":
    main()
