"""Tensors on a GPU that is not there: shapes, storages and CUDA's own dispatch, without bytes.

    T=$(python -c "import torch, os; print(os.path.dirname(torch.__file__))")
    g++ -std=c++20 -O1 -shared -fPIC -I$T/include -I$T/include/torch/csrc/api/include tests/measured/fake_cuda_guard.cpp \
        -o guard.so -L$T/lib -lc10 -ltorch_cpu -Wl,-rpath,$T/lib
    LD_PRELOAD=./guard.so python tests/measured/real_trainer_step.py ...

Imported before Transformers. Fake tensors say that they lie on `cuda`, so that autograd, CUDA's autocast lists, fused
dropout and foreach optimizers are those of a GPU. A Ledger (fake_cuda_ledger.py) writes down every storage when it appears and when it dies, in
blocks of 512 bytes, and the highest sum by phase. Token ids, masks and labels keep their values beside (`_known`), so that
what depends on them has the size of a real run. What a CPU build lacks stands in:
- scaled_dot_product_attention picks flash, efficient or math as CUDA does, and makes numbers of a boolean mask;
- buffers inside CUDA's kernels, which shapes do not show: softmax's backward, flash's and efficient's backward;
- gradients that meet are added in place where nobody else holds them, as engine.cpp does with plain tensors.
"""

import math
import os

os.environ.update(HF_HUB_OFFLINE="1", CUDA_VISIBLE_DEVICES="0", ACCELERATE_USE_CPU="false", TRL_EXPERIMENTAL_SILENCE="1")

import torch
import torch._dynamo.trace_rules
import torch.amp.grad_scaler
import torch.cuda.amp.common
import torch.nn.functional as F
from torch.optim.optimizer import _foreach_supported_types
from torch._subclasses import fake_tensor
from torch._subclasses.fake_tensor import FakeTensor

aten = torch.ops.aten


def pretend():
    cuda = torch.cuda
    torch._C._cuda_getCurrentRawStream = lambda index: 0  # bitsandbytes asks for it

    class Properties:
        name, major, minor, total_memory, multi_processor_count = "A100", 8, 0, 80 << 30, 108
        regs_per_multiprocessor, warp_size, max_threads_per_multi_processor = 65536, 32, 2048

    def nothing(*args, **kwargs):
        return None

    answers = {
        "is_available": True, "device_count": 1, "current_device": 0, "get_device_capability": (8, 0), "memory_stats": {},
        "get_device_properties": Properties, "get_device_name": "A100", "is_bf16_supported": True, "is_initialized": True,
        "is_current_stream_capturing": False, "get_rng_state_all": [], "mem_get_info": (80 << 30, 80 << 30),
        "memory_allocated": 0, "max_memory_allocated": 0, "memory_reserved": 0, "max_memory_reserved": 0,
    }
    for name, value in answers.items():
        setattr(cuda, name, lambda *args, value=value, **kwargs: value)
    for name in ("set_device", "synchronize", "empty_cache", "reset_peak_memory_stats", "manual_seed", "manual_seed_all",
                 "_lazy_init", "set_rng_state"):
        setattr(cuda, name, nothing)
    cuda.get_rng_state = lambda *args, **kwargs: torch.zeros(16, dtype=torch.uint8)
    fake_tensor.init_gpu_context = nothing
    torch.cuda.amp.common.amp_definitely_not_available = lambda: False
    torch.amp.grad_scaler.amp_definitely_not_available = lambda: False
    _foreach_supported_types.append(FakeTensor)
    torch._dynamo.trace_rules.get_torch_obj_rule_map()
    torch.autograd.set_multithreading_enabled(False)
    torch._C._set_only_lift_cpu_tensors(True)


# Without a CUDA kernel, autograd would take these apart; the fake tensors need no kernel, only its name.
library = torch.library.Library("aten", "IMPL", "CUDA")
for one_kernel in ("silu_backward", "mish_backward"):
    library.impl(one_kernel, lambda *args, **kwargs: None)


class Attention:
    """F.scaled_dot_product_attention as CUDA dispatches it: aten/src/ATen/native/transformers/cuda/sdp_utils.cpp."""

    cpu = F.scaled_dot_product_attention
    used = {}

    @classmethod
    def call(cls, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
        if query.device.type != "cuda":
            return cls.cpu(query, key, value, attn_mask=attn_mask, dropout_p=dropout_p, is_causal=is_causal, scale=scale,
                           enable_gqa=enable_gqa)
        if torch.is_autocast_enabled("cuda"):
            dtype = torch.get_autocast_dtype("cuda")
            query, key, value = (x.to(dtype) for x in (query, key, value))
            if attn_mask is not None and attn_mask.dtype.is_floating_point:
                attn_mask = attn_mask.to(dtype)
        width, heads = query.shape[-1], query.shape[1] == key.shape[1]
        same = key.shape[-1] == value.shape[-1] == width
        with torch.autocast("cuda", enabled=False):
            if attn_mask is None and query.element_size() == 2 and same and width <= 256 and (heads or enable_gqa):
                return cls.flash(query, key, value, dropout_p, is_causal, scale)
            if heads and query.ndim == 4 and width * query.element_size() % 16 == 0:
                return cls.efficient(query, key, value, attn_mask, dropout_p, is_causal, scale)
            cls.count("math")
            return aten._scaled_dot_product_attention_math(query, key, value, attn_mask, dropout_p, is_causal, None,
                                                           scale=scale, enable_gqa=enable_gqa)[0]

    @classmethod
    def count(cls, kernel):
        cls.used[kernel] = cls.used.get(kernel, 0) + 1

    @classmethod
    def flash(cls, query, key, value, dropout_p, is_causal, scale):
        cls.count("flash")
        width, padding = query.shape[-1], -query.shape[-1] % 8
        if padding:
            query, key, value = (F.pad(x, (0, padding)) for x in (query, key, value))
        out = aten._scaled_dot_product_flash_attention(query, key, value, dropout_p, is_causal,
                                                       scale=scale or 1 / math.sqrt(width))[0]
        return out[..., :width] if padding else out

    @classmethod
    def efficient(cls, query, key, value, mask, dropout_p, is_causal, scale):
        cls.count("efficient")
        if mask is not None:
            if mask.dtype == torch.bool:  # convert_boolean_attn_mask
                zero, never = (torch.full((), x, dtype=query.dtype, device="cuda") for x in (0.0, -math.inf))
                mask = torch.where(mask, zero, never)
            length = mask.shape[-1]
            if length % 16:  # pad_bias
                mask = F.pad(mask, (0, -length % 16))[..., :length]
            mask = mask.expand(query.shape[0], query.shape[1], query.shape[2], key.shape[2])
        graph = torch.is_grad_enabled() and any(x.requires_grad for x in (query, key, value))
        return aten._scaled_dot_product_efficient_attention(query, key, value, mask, graph, dropout_p, is_causal,
                                                            scale=scale)[0]


def moved(module, *args, **kwargs):
    """nn.Module.to for fake parameters, which cannot be swapped."""
    dtype = kwargs.get("dtype") or next((a for a in args if isinstance(a, torch.dtype)), None)
    device = kwargs.get("device") or next((a for a in args if isinstance(a, (torch.device, str, int))), None)
    device = torch.device("cuda", device) if isinstance(device, int) else torch.device(device) if device else None
    seen = {}

    def move(value):
        wanted = dtype if dtype is not None and value.is_floating_point() else value.dtype
        where = device if device is not None and device.type != value.device.type else value.device
        if wanted == value.dtype and where.type == value.device.type:
            return value
        return value.detach().to(device=where, dtype=wanted)

    for part in module.modules():
        for name, value in list(part._parameters.items()):
            if value is None:
                continue
            if id(value) not in seen:
                new = move(value)
                seen[id(value)] = value if new is value else torch.nn.Parameter(new, requires_grad=value.requires_grad)
            part._parameters[name] = seen[id(value)]
        for name, value in list(part._buffers.items()):
            part._buffers[name] = None if value is None else move(value)
    return module


def deep_copy(tensor, memo):
    """FakeTensor's own gives the copy's two sides different storages."""
    if id(tensor) not in memo:
        with torch.no_grad():
            new = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device)
        parameter = isinstance(tensor, torch.nn.Parameter)
        memo[id(tensor)] = torch.nn.Parameter(new, requires_grad=tensor.requires_grad) if parameter else new
    return memo[id(tensor)]


def plain(data):
    """torch.tensor of a list that holds fake numbers."""
    if isinstance(data, (list, tuple)):
        return [plain(x) for x in data]
    if isinstance(data, FakeTensor):
        return data.item() if data.numel() == 1 else [plain(x) for x in data]
    return data


def stand_in():
    pretend()
    F.scaled_dot_product_attention = Attention.call
    FakeTensor.__deepcopy__ = deep_copy
    make = torch.tensor
    torch.tensor = lambda data, *args, **kwargs: make(plain(data), *args, **kwargs)
    torch.nn.Module.to = moved
    torch.nn.Module.cuda = lambda self, *args, **kwargs: moved(self, "cuda")
    for name, dtype in (("float", torch.float32), ("half", torch.float16), ("bfloat16", torch.bfloat16)):
        setattr(torch.nn.Module, name, lambda self, dtype=dtype: moved(self, dtype))


stand_in()
