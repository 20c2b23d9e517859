"""What a real training step of Transformers allocates, without weights and without a GPU.

    pip install torch transformers peft accelerate
    python tests/measured/real_step.py tests/core/golden/real_steps.json > again.json

The model class itself runs two steps on fake tensors (torch._subclasses.fake_tensor), which have shapes and storages but
no bytes. Every storage that an operation makes is written down when it appears and when it dies; their sum is what
torch.cuda.max_memory_allocated would show, in blocks of 512 bytes. A case says the config, the adapter, checkpointing,
attention, the type of the weights, autocast and perhaps target_modules and target_parameters; `peft` holds the fields of
another adapter's own configuration, `model_class` the name of an Auto class other than that of decoders; the answer adds
`trainable`, `start` (what is there before the first step) and the highest sum in `forward` and in
`backward`, optimizer states included (the second step).

Where a CPU would run something else than a GPU, what the GPU runs stands in:
- scaled_dot_product_attention: flash's output, laid out as the query is, and its logsumexp; the backward's gradients;
- dropout: the fused kernel with its mask; softmax's backward: the product that CUDA makes first;
- under autocast, SDPA takes 16 bits and layer norms work in fp32, as on CUDA;
- grouped key heads go to SDPA as they are, and no row is taken for a packed one (fake tensors cannot be looked into).

A case with an `image_size` has one image a row. Where image tokens stand is looked up in the input, so these run on real
tensors and are small; so does a case that says `real`.
"""

import contextlib
import gc
import json
import sys
import weakref

import torch
from peft import LoraConfig, PeftType, get_peft_model
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

import peft.tuners.tuners_utils
import transformers
import transformers.integrations.sdpa_attention
import transformers.masking_utils
from transformers import AutoConfig


TASKS = {"AutoModelForSequenceClassification": "SEQ_CLS", "AutoModelForSeq2SeqLM": "SEQ_2_SEQ_LM"}


def block(size):
    return max(512, (size + 511) // 512 * 512)


class Ledger(TorchDispatchMode):
    """Storages alive, and the highest sum since `peak` was last set."""

    def __init__(self):
        super().__init__()
        self.alive, self.now, self.peak = {}, 0, 0

    def see(self, tensor):
        storage = tensor.untyped_storage()
        key, size = storage._cdata, storage.nbytes()
        if size == 0 or key in self.alive:
            return
        self.grow(block(size))

        def die():
            del self.alive[key]
            self.now -= block(size)

        self.alive[key] = weakref.finalize(storage, die)

    def grow(self, size):
        self.now += size
        self.peak = max(self.peak, self.now)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        for leaf in tree_leaves(out):
            if isinstance(leaf, torch.Tensor):
                self.see(leaf)
        if "._softmax_backward_data" in str(function):
            product = block(args[0].numel() * args[0].element_size())
            self.grow(product)
            self.now -= product
        return out


class Flash(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v):
        batch, heads, length, width = q.shape
        out = torch.empty_like(q) if v.shape[-1] == width else q.new_empty(batch, length, heads, v.shape[-1]).transpose(1, 2)
        logsumexp = torch.empty(batch, heads, length, dtype=torch.float32)
        ctx.save_for_backward(q, k, v, out, logsumexp)
        return out

    @staticmethod
    def backward(ctx, gradient):
        q, k, v, _, _ = ctx.saved_tensors
        return torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)


def dropout(input, p=0.5, training=True, inplace=False):
    return torch.ops.aten.native_dropout(input, p, True)[0] if training and p > 0 else input


def autocasts():
    return torch.is_autocast_enabled("cpu")


def attend(query, key, value, *args, **kwargs):
    if autocasts():
        query, key, value = (x.to(torch.bfloat16) for x in (query, key, value))
    return Flash.apply(query, key, value)


def in_fp32(x):
    return x.float() if autocasts() else x


def cast_in_place(module, *args, **kwargs):
    """nn.Module.to for fake parameters, which cannot be swapped."""
    dtype = kwargs.get("dtype") or next((a for a in args if isinstance(a, torch.dtype)), None)
    for part in module.modules() if dtype else ():
        for name, value in list(part._parameters.items()):
            if value is not None and value.is_floating_point() and value.dtype != dtype:
                part._parameters[name] = nn.Parameter(value.detach().to(dtype), requires_grad=value.requires_grad)
    return module


def stand_in():
    layer_norm = nn.functional.layer_norm
    nn.functional.scaled_dot_product_attention = attend
    nn.functional.layer_norm = lambda x, *args, **kwargs: layer_norm(in_fp32(x), *args, **kwargs)
    nn.functional.dropout = dropout
    nn.Dropout.forward = lambda self, x: dropout(x, self.p, self.training)
    nn.Module.to = cast_in_place
    transformers.integrations.sdpa_attention.use_gqa_in_sdpa = lambda *args, **kwargs: True
    transformers.masking_utils.find_packed_sequence_indices = lambda *args, **kwargs: None
    for part in vars(peft.tuners.tuners_utils).values():
        if isinstance(part, type) and "_move_adapter_to_device_of_base_layer" in vars(part):
            part._move_adapter_to_device_of_base_layer = lambda *args, **kwargs: None


def make_model(case):
    fields = {"pad_token_id": None, "bos_token_id": 1, "eos_token_id": 2, **case["config"]}
    config = AutoConfig.for_model(fields.pop("model_type"), **fields)
    config.get_text_config().use_cache = False
    if getattr(config, "pad_token_id", None) is not None and config.pad_token_id >= config.vocab_size:
        config.pad_token_id = 0
    plain = "AutoModelForImageTextToText" if "image_size" in case else "AutoModelForCausalLM"
    kind = getattr(transformers, case.get("model_class", plain))
    model = kind.from_config(config, dtype=getattr(torch, case["dtype"]), attn_implementation=case["attention"])
    model.tie_weights()
    if case["lora"]:  # adapters are fp32, as PEFT makes them
        targets = {"target_modules": case.get("target_modules", "all-linear"), "target_parameters": case.get("target_parameters")}
        model = get_peft_model(model, LoraConfig(task_type=TASKS.get(kind.__name__, "CAUSAL_LM"), r=case["lora"], **targets))
    elif "peft" in case:
        fields = dict(case["peft"])
        method = peft.PEFT_TYPE_TO_CONFIG_MAPPING[PeftType(fields.pop("peft_type", "LORA"))]
        model = get_peft_model(model, method(task_type=TASKS.get(kind.__name__, "CAUSAL_LM"), **fields))
    if case["checkpointing"]:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        if case["lora"] or "peft" in case:
            model.enable_input_require_grads()
    return model.train()


def text_inputs(case):
    tokens = torch.zeros(case["batch"], case["length"], dtype=torch.int64)
    labels = torch.zeros(case["batch"], dtype=torch.int64) if "Classification" in case.get("model_class", "") else tokens.clone()
    return {"input_ids": tokens, "labels": labels}


def image_inputs(case, config):
    """Pixels and image tokens of one square image a row, as the processors lay them out."""
    kind, size, batch = config.model_type, case["image_size"], case["batch"]
    vision, tokens = config.vision_config, torch.full((batch, case["length"]), 10)
    side = size // getattr(vision, "patch_size", 1)
    pixels = torch.ones(batch, 3, size, size, dtype=torch.bfloat16)
    more = {}
    if kind in ("qwen2_vl", "qwen2_5_vl", "qwen3_vl", "glm4v"):
        count = (side // vision.spatial_merge_size) ** 2
        patch = 3 * vision.temporal_patch_size * vision.patch_size**2
        pixels = torch.ones(batch * side * side, patch, dtype=torch.bfloat16)
        tokens[:, 4] = config.vision_start_token_id
        more["image_grid_thw"] = torch.tensor([[1, side, side]] * batch)
    elif kind == "gemma3":
        count = config.mm_tokens_per_image
    elif kind in ("idefics3", "smolvlm"):
        count = (side // config.scale_factor) ** 2
        pixels = pixels[:, None]
    else:  # llava, paligemma
        count = side**2
    image_token = getattr(config, "image_token_id", None) or config.image_token_index
    tokens[:, 5 : 5 + count] = image_token
    types = (tokens == image_token).long()
    if kind in ("gemma3", "paligemma"):
        more["token_type_ids"] = types if kind == "gemma3" else torch.zeros_like(tokens)
    elif "image_grid_thw" in more:
        more["mm_token_type_ids"] = types
    return {"input_ids": tokens, "labels": tokens.clone(), "pixel_values": pixels, **more}


def measure(case):
    ledger, seen = Ledger(), {}
    real = "image_size" in case or case.get("real", False)
    with contextlib.nullcontext() if real else FakeTensorMode(allow_non_fake_inputs=True):
        model = make_model(case)
        trained = [p for p in model.parameters() if p.requires_grad]
        seen["trainable"] = sum(p.numel() for p in trained)
        optimizer = torch.optim.AdamW(trained, foreach=False)
        with ledger:
            for tensor in [*model.parameters(), *model.buffers()]:
                ledger.see(tensor)
            seen["start"] = ledger.now
            for _ in range(2):
                if "image_size" in case:
                    inputs = image_inputs(case, model.config)
                else:
                    inputs = text_inputs(case)
                ledger.peak = ledger.now
                with torch.autocast("cpu", dtype=torch.bfloat16, enabled=case["autocast"]):
                    loss = model(**inputs)["loss"]
                seen["forward"] = ledger.peak
                ledger.peak = ledger.now
                loss.backward()
                seen["backward"] = ledger.peak
                del loss, inputs
                optimizer.step()
                optimizer.zero_grad()
                gc.collect()
    return seen


if __name__ == "__main__":
    stand_in()
    file = json.load(open(sys.argv[1]))
    file["versions"] = {"torch": torch.__version__, "transformers": transformers.__version__, "peft": peft.__version__}
    for number, case in enumerate(file["cases"]):
        print(f"{number + 1} of {len(file['cases'])}: {case['name']}", file=sys.stderr)
        case.update(measure(case))
    rows = ",\n".join("    " + json.dumps(case) for case in file["cases"])
    print('{\n  "versions": ' + json.dumps(file["versions"]) + ',\n  "cases": [\n' + rows + "\n  ]\n}")
