"""What PEFT trains in the networks of the presets, counted on meta tensors; one golden each.

    python resolve.py [--only NAME] OUT_FOLDER

The cases stand in cases.json: requests of ours, a preset's id and the arguments of LoraConfig, none for
full fine-tuning. Networks are built from the preset's own config.json by the release of
Transformers beside it. A case that a release refuses gives no golden; the reason is
printed.
"""

import argparse
import json
import sys
import warnings
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])

import scripts
import torch
import transformers
from peft import LoraConfig, get_peft_model

PRESETS = Path(__file__).resolve().parents[3] / "presets" / "models"


def build(preset):
    config = json.loads((PRESETS / f"{preset}.json").read_text())["config"]
    kind = transformers.CONFIG_MAPPING[config["model_type"]].from_dict(config)
    auto = transformers.AutoModelForCausalLM
    if "vision_config" in config:
        auto = transformers.AutoModelForImageTextToText
    with torch.device("meta"):
        return auto.from_config(kind)


def resolve(case):
    model = build(case["model"])
    fields = {}
    if "peft" in case:
        given = dict(case["peft"])
        every = given.get("target_modules") == "all-linear"
        model = get_peft_model(model, LoraConfig(**given))
        if "target_modules" not in given:
            fields["/peft/target_modules"] = sorted(model.peft_config["default"].target_modules)
        elif every:
            fields["/peft/target_modules"] = ["all-linear"]
    trainable = sum(p.numel() for p in model.parameters() if p.requires_grad)
    return fields, trainable


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only")
    options.add_argument("folders", type=Path, nargs="+", help="the last is where goldens go; no others are read")
    given = options.parse_args()
    warnings.simplefilter("ignore")
    transformers.logging.set_verbosity_error()
    versions = scripts.versions()
    versions.pop("trl", None)
    cases = json.loads(Path(__file__).with_name("cases.json").read_text())
    for name, case in cases.items():
        if given.only and name != given.only:
            continue
        try:
            fields, trainable = resolve(case)
        except Exception as problem:  # whatever a release says against a case
            print(f"{name}: {type(problem).__name__}: {str(problem)[:160]}".replace("\n", " "))
            continue
        golden = {
            "source": f"peft {versions['peft']} get_peft_model",
            "versions": versions,
            "request": {"stack": "hf", **case},
            "fields": {**fields, "/peft": "peft" in case},
            "trainable": trainable,
        }
        scripts.write_golden(given.folders[-1] / f"{name}.json", golden)


if __name__ == "__main__":
    main()
