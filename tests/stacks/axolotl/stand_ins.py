"""What Axolotl asks of a machine with a GPU and of the Hub, answered on a CPU without a network.

    import stand_ins                  # before axolotl: one H100, the presets' config.json files
    stand_ins.config_of("Qwen/Qwen3-8B")

Nothing is put on a device; models are built on torch's meta device.
"""

import copy
import json
import os
import importlib.machinery
import pathlib
import sys
import types

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", HF_DATASETS_OFFLINE="1", AXOLOTL_DO_NOT_TRACK="1",
                  DO_NOT_TRACK="1", WANDB_DISABLED="true", TOKENIZERS_PARALLELISM="false", DS_ACCELERATOR="cpu",
                  CUDA_HOME="/usr")

import torch  # noqa: E402
import bitsandbytes  # noqa: E402,F401  looks for CUDA when it is imported, so before the stand-in

GIB = 2**30
PRESETS = pathlib.Path(__file__).resolve().parents[3] / "presets" / "models"


def pretend_one_h100():
    gpu = types.SimpleNamespace(major=9, minor=0, total_memory=80 * GIB, name="NVIDIA H100", multi_processor_count=132)
    torch.set_num_threads(1)
    answers = {"is_available": True, "is_bf16_supported": True, "device_count": 1, "current_device": 0,
               "set_device": None, "get_device_capability": (9, 0), "get_device_properties": gpu,
               "get_device_name": gpu.name, "empty_cache": None, "memory_allocated": 0, "memory_reserved": 0,
               "max_memory_allocated": 0, "mem_get_info": (80 * GIB, 80 * GIB), "reset_peak_memory_stats": None,
               "synchronize": None, "manual_seed_all": None}
    for name, answer in answers.items():
        setattr(torch.cuda, name, lambda *args, _answer=answer, **kwargs: _answer)


pretend_one_h100()
# Axolotl imports what logs to it, and looks for what shares a sequence; neither runs here.
for absent in ("wandb", "ring_flash_attn"):
    sys.modules[absent] = types.ModuleType(absent)
    sys.modules[absent].__spec__ = importlib.machinery.ModuleSpec(absent, None)
import transformers  # noqa: E402
import transformers.training_args  # noqa: E402


def presets():
    """Every model id in lower case, and its preset."""
    known = {}
    for path in sorted(PRESETS.glob("*.json")):
        preset = json.loads(path.read_text())
        for name in [preset.get("hf_id"), preset["id"], *preset.get("same_shapes", [])]:
            if name:
                known[name.lower()] = preset
    return known


KNOWN = presets()


def find_preset(name):
    """By the id, by its last part, or by the longest id that the last part begins with: another packing of it."""
    name = str(name).lower()
    last = name.rsplit("/", maxsplit=1)[-1]
    beginnings = [known for known in KNOWN if last.startswith(known)]
    return KNOWN.get(name) or KNOWN.get(last) or KNOWN.get(max(beginnings, key=len, default=""))


def config_of(name):
    """The model's configuration as from_pretrained gives it, without a stored quantisation."""
    preset = find_preset(name)
    if preset is None:
        raise LookupError(f"no preset for {name}")
    settings = copy.deepcopy(preset["config"])
    settings.pop("quantization_config", None)
    if "torch_dtype" in settings:
        settings["dtype"] = settings.pop("torch_dtype")
    config = transformers.AutoConfig.for_model(settings.pop("model_type"), **settings)
    config._name_or_path = str(name)
    return config


def from_pretrained(name, *args, **kwargs):
    config = config_of(name)
    for key, value in kwargs.items():
        if key in ("num_labels",):
            setattr(config, key, value)
    return config


transformers.AutoConfig.from_pretrained = staticmethod(from_pretrained)
transformers.PretrainedConfig.get_config_dict = classmethod(lambda cls, name, **kwargs: (config_of(name).to_dict(), {}))
transformers.utils.is_flash_attn_2_available = lambda *args, **kwargs: True
transformers.utils.is_flash_attn_3_available = lambda *args, **kwargs: True
transformers.training_args.is_torch_tf32_available = lambda *args, **kwargs: True


class Tokenizer:
    """As long as the vocabulary, so that no table is resized."""

    bos_token_id = eos_token_id = pad_token_id = 0
    chat_template = "x"

    def __init__(self, config):
        text = config.get_text_config() if hasattr(config, "get_text_config") else config
        self.words = getattr(text, "vocab_size", 32000)

    def __len__(self):
        return self.words


def without_images():
    """Older releases import processors that need torchvision; no batch is made here."""
    try:
        import axolotl.processing_strategies  # noqa: F401
    except ImportError:
        stub = sys.modules["axolotl.processing_strategies"] = types.ModuleType("processing_strategies")
        stub.get_processing_strategy = stub.ProcessingStrategy = None


without_images()
