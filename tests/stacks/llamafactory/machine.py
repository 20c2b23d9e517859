"""A machine with one H100 and a hub that only knows the presets, as far as LLaMA-Factory asks about them.

    import machine          # before llamafactory
    machine.install()
    machine.facts           # what the last model was loaded with

Nothing is put on a GPU: models are made on PyTorch's meta device, at their full size.
"""
import copy
import glob
import importlib.machinery
import json
import os
import sys
import types

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", HF_DATASETS_OFFLINE="1",
                  DISABLE_VERSION_CHECK="1", TOKENIZERS_PARALLELISM="false", WANDB_DISABLED="true")

import torch  # noqa: E402
import bitsandbytes  # noqa: E402,F401 - asks for the card when it is imported

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
facts = {}
presets = {}


# Imported by the data part alone, to read sound; its builds follow PyTorch's one by one.
sys.modules["torchaudio"] = types.ModuleType("torchaudio")
sys.modules["torchaudio"].__spec__ = importlib.machinery.ModuleSpec("torchaudio", None)


class Tokenizer:
    """What the workflows ask of a tokenizer before there is data."""
    init_kwargs = {}
    padding_side = "right"
    eos_token_id = 2
    pad_token_id = 0
    additional_special_tokens_ids = []

    def __len__(self):
        return 1000


def fake_card():
    card = types.SimpleNamespace(major=9, minor=0, total_memory=80 << 30, name="NVIDIA H100",
                                 multi_processor_count=132)
    answers = dict(is_available=True, is_bf16_supported=True, device_count=1, current_device=0,
                   set_device=None, get_device_capability=(9, 0), get_device_properties=card,
                   get_device_name="NVIDIA H100", empty_cache=None, manual_seed=None,
                   manual_seed_all=None, synchronize=None)
    for name, answer in answers.items():
        setattr(torch.cuda, name, lambda *args, answer=answer, **kwargs: answer)


def read_presets():
    for path in glob.glob(os.path.join(ROOT, "presets", "models", "*.json")):
        with open(path, encoding="utf-8") as stream:
            preset = json.load(stream)
        for name in [preset.get("hf_id"), preset["id"], *preset.get("same_shapes", [])]:
            if name:
                presets[name.lower()] = preset


def make_config(name, *args, **kwargs):
    """The config.json of a model on the hub, or of a folder that is named like one."""
    from transformers import AutoConfig

    name = str(name).lower().rstrip("/")
    last = name.rsplit("/", 1)[-1]
    preset = presets.get(name) or presets.get(last) or presets.get(last + "-hf")
    beginnings = [known for known in presets if last.startswith(known)]  # another packing of it, or its Instruct
    preset = preset or presets.get(max(beginnings, key=len, default=""))
    if preset is None:
        raise OSError(f"no preset is called {name}")
    values = copy.deepcopy(preset["config"])
    dtype = values.pop("torch_dtype", None) or values.pop("dtype", None)
    values["torch_dtype"] = dtype
    config = AutoConfig.for_model(values.pop("model_type"), **values)
    config._name_or_path = name
    config.architectures = config.architectures or []  # older releases look for names in it
    return config


def asked_attention(config):
    """None: from_pretrained chooses. Until Transformers 4.56 the property says eager then."""
    if hasattr(config, "_attn_implementation_internal"):
        return config._attn_implementation_internal
    return getattr(config, "_attn_implementation", None)


def fake_loading(auto_class):
    """from_pretrained without weights: the class, the type and the quantization decide."""
    def load(pretrained_model_name_or_path=None, *args, config=None, quantization_config=None, **kwargs):
        config = config or make_config(pretrained_model_name_or_path)
        dtype = kwargs.get("dtype", kwargs.get("torch_dtype"))
        if dtype == "auto":
            dtype = getattr(config, "dtype", None) or getattr(config, "torch_dtype", None)
            text = getattr(config, "text_config", None)
            dtype = dtype or getattr(text, "dtype", None) or getattr(text, "torch_dtype", None)
        if isinstance(dtype, str):
            dtype = getattr(torch, dtype)
        asked = kwargs.get("attn_implementation") or asked_attention(config)
        facts.update(quantization=quantization_config, loaded_dtype=dtype or torch.float32)
        config._attn_implementation = "eager"
        usual = torch.get_default_dtype()
        torch.set_default_dtype(dtype or torch.float32)
        with torch.device("meta"):
            model = auto_class.from_config(config)
        torch.set_default_dtype(usual)
        facts["attention"] = asked or ("sdpa" if getattr(model, "_supports_sdpa", True) else "eager")
        model = model.to(dtype or torch.float32)
        model.tie_weights()
        if quantization_config is not None:
            model.quantization_method = str(quantization_config.quant_method.value)
            model.is_quantized = True
        return model
    return load


def word_of(dtype):
    return str(dtype).replace("torch.", "")


def quantization_fields():
    """What the last model was to be quantised to."""
    config = facts["quantization"]
    if config is None:
        return {"/quantization/load_in_4bit": False, "/quantization/load_in_8bit": False}
    if config.quant_method.value == "hqq":
        return {"/quantization/quant_method": "hqq",
                "/quantization/bits": config.quant_config["weight_quant_params"]["nbits"]}
    fields = {"/quantization/load_in_4bit": config.load_in_4bit, "/quantization/load_in_8bit": config.load_in_8bit}
    if config.load_in_4bit:
        fields.update({"/quantization/bnb_4bit_quant_type": config.bnb_4bit_quant_type,
                       "/quantization/bnb_4bit_use_double_quant": config.bnb_4bit_use_double_quant,
                       "/quantization/bnb_4bit_compute_dtype": word_of(config.bnb_4bit_compute_dtype)})
    return fields


def install():
    fake_card()
    read_presets()
    import transformers

    torch.set_num_threads(1)
    transformers.AutoConfig.from_pretrained = staticmethod(make_config)
    for name in ("AutoModelForCausalLM", "AutoModelForVision2Seq", "AutoModelForImageTextToText",
                 "AutoModelForSeq2SeqLM", "AutoModelForTextToWaveform", "AutoModelForTokenClassification"):
        auto_class = getattr(transformers, name, None)
        if auto_class is not None:
            auto_class.from_pretrained = staticmethod(fake_loading(auto_class))
