"""Parameters of every model preset, and of every type that Transformers knows, as its own class counts them on `meta`.

    pip install torch transformers==5.23.0
    python tests/measured/preset_counts.py                            # presets whose class counts otherwise
    python tests/measured/preset_counts.py build/native/plimsoll      # types whose default config the command counts otherwise

Of the presets these differ, and stay as published: T5 and mT5 with a head of their own (a class made from a config ties it, a
loaded checkpoint is not tied), DeepSeek-V3 and ERNIE 4.5 (biases of the router, parameters in one and buffers in the other),
PaddleOCR-VL (the head), Kimi Linear (its own code). Of the types those with a class for text alone beside the whole model.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
os.environ["HF_HUB_OFFLINE"] = "1"

import torch
import transformers
from transformers import AutoModel, AutoModelForCausalLM, AutoModelForImageTextToText, AutoModelForSeq2SeqLM, AutoModelForSpeechSeq2Seq
from transformers.models.auto import modeling_auto

transformers.logging.set_verbosity_error()
PRESETS = pathlib.Path(__file__).parent.parent.parent / "presets" / "models"
CLASSES = [(modeling_auto.MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES, AutoModelForSpeechSeq2Seq),
           (modeling_auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES, AutoModelForImageTextToText),
           (modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES, AutoModelForSeq2SeqLM),
           (modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, AutoModelForCausalLM)]
# Counted as the base model, which is what they are published as.
ENCODERS = set(modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES) - set(modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES)


def counted(config):
    kind = AutoModel if config.model_type in ENCODERS else next((auto for names, auto in CLASSES if config.model_type in names), AutoModel)
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in kind.from_config(config).parameters())


def tried(config):
    try:
        return counted(config())
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:120]


def presets():
    for path in sorted(PRESETS.glob("*.json")):
        preset = json.loads(path.read_text())
        fields = dict(preset["config"])
        kind = fields.pop("model_type", None)
        if kind in transformers.CONFIG_MAPPING:
            made = tried(lambda: transformers.AutoConfig.for_model(kind, **fields))
            yield preset["id"], made, preset["parameters"]["count"]


def types(command):
    for kind in sorted({kind for names, _ in CLASSES for kind in names} | ENCODERS):
        made = tried(transformers.CONFIG_MAPPING[kind])
        if isinstance(made, str):
            continue
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(transformers.CONFIG_MAPPING[kind]().to_dict(), file, default=str)
            file.flush()
            run = subprocess.run([command, "report", "--quick", "--json", file.name, "--gpu", "h100-sxm"], capture_output=True, text=True)
        report = json.loads(run.stdout or run.stderr)
        if report.get("ok"):  # a refusal is no wrong figure
            yield kind, made, report["model"]["parameters"]


if __name__ == "__main__":
    seen = collections.Counter()
    for name, made, ours in types(sys.argv[1]) if len(sys.argv) > 1 else presets():
        seen["not built" if isinstance(made, str) else "same" if made == ours else "other"] += 1
        if made != ours:
            print(f"{name}: {made if isinstance(made, str) else f'{made:,}'}, here {ours:,}")
    print(dict(seen))
