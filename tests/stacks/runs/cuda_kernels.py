"""What a GPU would run where a CPU runs something else; only what is allocated matters, values stay right.

- scaled_dot_product_attention: flash (16 bits, no mask, grouped heads allowed) or memory-efficient attention, with the
  output's layout, the logsumexp and what the backward takes meanwhile (PyTorch 2.13 aten/src/ATen/native/transformers/cuda/
  attention.cu, attention_backward.cu); under autocast in 16 bits;
- dropout: the fused kernel with its mask;
- optimizers work through all tensors at once (foreach), which PyTorch chooses on CUDA alone; their step counts, which
  then lie on the host, are not seen;
- autograd adds a gradient to another in place, and scatters in place, which it does not do while a TorchDispatchMode
  looks on (torch/csrc/autograd/input_buffer.cpp, FunctionsManual.cpp).
"""

import math
import sys

import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import _disable_current_modes

aten = torch.ops.aten
OWNED = 2  # storage references of a gradient that nobody else holds, seen from Python


def block(size):
    return (size + 511) // 512 * 512


def accumulates_in_place(function, args):
    if function is not aten.add.Tensor or torch.is_grad_enabled() or torch._C._current_autograd_node() is None:
        return False
    a, b = args[0], args[1]
    if not isinstance(b, torch.Tensor) or a.shape != b.shape or a.dtype != b.dtype or not called_by_engine():
        return False
    return torch._C._storage_Use_Count(a.untyped_storage()._cdata) <= OWNED and a.is_non_overlapping_and_dense()


def called_by_engine():
    frame = sys._getframe(1)
    while frame is not None and ("torch/utils/_" in frame.f_code.co_filename or "tests/stacks/runs" in frame.f_code.co_filename
                                 or frame.f_code.co_filename.endswith(("tracker.py", "cuda_kernels.py"))):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_name == "_engine_run_backward"


IN_PLACE = {aten.scatter_add.default: aten.scatter_add_.default, aten.index_put.default: aten.index_put_.default,
            aten._unsafe_index_put.default: aten.index_put_.default, aten.scatter.src: aten.scatter_.src,
            aten.scatter.value: aten.scatter_.value}


def in_place_of(function):
    if function not in IN_PLACE or torch.is_grad_enabled() or torch._C._current_autograd_node() is None:
        return function
    return IN_PLACE[function] if called_by_engine() else function


class Attention(torch.autograd.Function):
    """Flash or memory-efficient attention: the CPU's own result, in CUDA's storages."""

    @staticmethod
    def forward(ctx, ledger, flash, query, key, value, bias, settings):
        batch, heads, length, width = query.shape
        with _disable_current_modes(), torch.no_grad():
            result = plain(query, key, value, bias, settings)
        out = torch.empty(batch, length, heads, width, dtype=query.dtype).transpose(1, 2)
        out.copy_(result)
        rows = length if flash else (length + 31) // 32 * 32
        # Memory-efficient attention without a graph leaves the logsumexp out.
        wanted = flash or any(ctx.needs_input_grad)
        logsumexp = torch.empty(batch, heads, rows, dtype=torch.float32) if wanted else torch.empty(0)
        ctx.save_for_backward(query, key, value, bias, out, logsumexp)
        ctx.ledger, ctx.flash, ctx.settings = ledger, flash, settings
        return out

    @staticmethod
    def backward(ctx, gradient):
        query, key, value, bias, _, _ = ctx.saved_tensors
        with _disable_current_modes(), torch.enable_grad():
            inputs = [x.detach().requires_grad_() for x in (query, key, value)]
            results = torch.autograd.grad(plain(*inputs, bias, ctx.settings), inputs, gradient)
        outs = [torch.empty_like(x) for x in (query, key, value)]
        for out, result in zip(outs, results):
            out.copy_(result)
        ctx.ledger.hidden(flash_backward(query, key) if ctx.flash else efficient_backward(query))
        return None, None, *outs, None, None


def plain(query, key, value, bias, settings):
    groups = query.shape[1] // key.shape[1]
    if groups > 1:
        key, value = (x.repeat_interleave(groups, 1) for x in (key, value))
    return SDPA(query.float(), key.float(), value.float(), None if bias is None else bias.float(), **settings).to(query.dtype)


def flash_backward(query, key):
    """softmax_d, dq_accum and, where heads are grouped, dk and dv of every head (flash_api.cpp mha_bwd)."""
    batch, heads, length, width = query.shape
    rows = (length + 127) // 128 * 128
    wide = (width + 31) // 32 * 32 if width <= 128 else (width + 63) // 64 * 64
    size = block(4 * batch * heads * rows) + block(4 * batch * rows * heads * wide)
    if key.shape[1] != heads:
        size += 2 * block(2 * batch * key.shape[2] * heads * width)
    return size


def efficient_backward(query):
    """delta, and an fp32 gradient of the query where that is in 16 bits (attention_backward.cu)."""
    batch, heads, length, width = query.shape
    size = block(4 * batch * heads * length)
    if query.element_size() == 2:
        size += block(4 * batch * heads * ((length + 63) // 64 * 64) * ((width + 63) // 64 * 64))
    return size


SDPA = F.scaled_dot_product_attention


def bias_of(mask, query, key):
    """A mask of booleans becomes one of numbers for each call, aligned to 16 (sdp_utils.cpp, attention.cu)."""
    if mask is None:
        return None
    if mask.dtype == torch.bool:
        low = torch.full((), -math.inf, dtype=query.dtype)
        mask = torch.where(mask, torch.zeros((), dtype=query.dtype), low)
    if mask.shape[-1] % 16:
        mask = F.pad(mask, (0, 16 - mask.shape[-1] % 16))[..., : mask.shape[-1]]
    return mask.expand(query.shape[0], query.shape[1], query.shape[2], key.shape[2])


def attend(ledger):
    def attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
        if torch.is_autocast_enabled("cpu"):
            query, key, value = (x.to(torch.get_autocast_dtype("cpu")) for x in (query, key, value))
        half = query.dtype in (torch.float16, torch.bfloat16)
        flash = attn_mask is None and half and query.shape[-1] == value.shape[-1] <= 256
        settings = {"is_causal": is_causal, "scale": scale}
        with torch.autocast("cpu", enabled=False):
            bias = bias_of(attn_mask, query, key)
            return Attention.apply(ledger, flash, query, key, value, bias, settings)

    return attention


def dropout(input, p=0.5, training=True, inplace=False):
    return torch.native_dropout(input, p, True)[0] if training and p > 0 else input


def unseen(function):
    def run(*args, **kwargs):
        with _disable_current_modes():
            return function(*args, **kwargs)

    return run


def stand_in_for_trl():
    """TRL from 1.15 folds tiles of logits in place with Triton and adds products to fp32 sums without a copy; it picks
    the labelled positions first (trl/kernels/chunked_logprob.py, trl/trainer/utils.py add_fused_lm_head)."""
    kernels, utils = (sys.modules.get(f"trl.{name}") for name in ("kernels.chunked_logprob", "trainer.utils"))
    if kernels is None or utils is None:
        return
    for name in ("_forward_tile", "_backward_tile", "_addmm_fp32"):
        setattr(kernels, name, unseen(getattr(kernels, name)))
    utils._use_triton = lambda device: True


def activation_forward(activation):
    def run(gate, up):
        out = torch.empty_like(gate)
        with _disable_current_modes():
            out.copy_(activation(gate) * up)
        return out

    return run


def activation_backward(activation):
    """Over the tensors that came in: the product, and the gradients of gate and up."""

    def run(grad_output, gate, up):
        with _disable_current_modes(), torch.enable_grad():
            inputs = [x.detach().clone().requires_grad_() for x in (gate, up)]
            product = activation(inputs[0]) * inputs[1]
            gradients = torch.autograd.grad(product, inputs, grad_output)
            for old, new in zip((grad_output, gate, up), (product.detach(), *gradients)):
                old.data.copy_(new)
        return grad_output, gate, up

    return run


def stand_in_for_axolotl():
    """Its fused LoRA MLP calls Triton for the activation (axolotl/kernels/swiglu.py, geglu.py)."""
    import axolotl.kernels.lora as kernels

    for name, activation in (("swiglu", F.silu), ("geglu", lambda x: F.gelu(x, approximate="tanh"))):
        setattr(kernels, f"{name}_forward", activation_forward(activation))
        setattr(kernels, f"{name}_backward", activation_backward(activation))


def stand_in(ledger):
    F.scaled_dot_product_attention = attend(ledger)
    F.dropout = dropout
    for name in ("torch.optim.optimizer", "torch.utils._foreach_utils"):
        sys.modules[name]._get_foreach_kernels_supported_devices = lambda: ["cpu", "cuda"]
