"""Where lora_dropout puts the peak of a checkpointed layer over a 4-bit base that was prepared for training.

    python dropout_peak.py 6144

Runs the real Mistral layer of Transformers, in its full size, under autocast on a CPU, and follows every
allocation with PyTorch's profiler. The base of each linear is one autograd function that keeps nothing, as that of
bitsandbytes; the weight it unpacks is left out. Its adapter is written as PEFT's Linear4bit.forward writes it. Dropout
and the sum of an fp32 and a 16-bit tensor are functions of their own, because their CPU kernels make masks and copies
that those on a GPU do not.

Bytes a token, with Transformers 4.57.6 and torch 2.15 (key heads are not repeated):

    dropout  kept, with the result  highest forward  highest backward, with the result
    0              295,699              394,003           455,315   (at the product of gate and up)
    0.05           342,803              473,902           488,083   (at the product of gate and up)

Dropout keeps 47,104 more: a mask of one byte for each value that enters an adapter (38,912), and for o_proj a copy of
its own (8,192). The backward alone rises by 32,768, as the mask of down_proj is gone when it is highest. But the peak
moves: where a layer is computed again, its forward is now higher than its backward, because the dropped copy of
down_proj's input, in fp32 and in 16 bits, stands beside gate, activation, up and their product, and the gradient that
waits for the layer, 16,384, comes on top. 490,286 against
471,699 without the result, which is not made again. The replay has the same moment, and the same bytes to 0.1 %.
"""

import sys

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile
from transformers import MistralConfig
from transformers.models.mistral.modeling_mistral import MistralDecoderLayer

HIDDEN, INNER, HEADS, KV_HEADS, RANK = 4096, 14336, 32, 8, 16


class Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(torch.ones(x.shape, dtype=torch.bool))
        return torch.empty_like(x)

    @staticmethod
    def backward(ctx, grad):
        return torch.empty_like(grad)


class Base(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, out):
        ctx.shape = x.shape
        return torch.empty(*x.shape[:-1], out, dtype=x.dtype)

    @staticmethod
    def backward(ctx, grad):
        return torch.empty(ctx.shape, dtype=grad.dtype), None


class Add(torch.autograd.Function):
    @staticmethod
    def forward(ctx, result, update):
        ctx.dtype = update.dtype
        return torch.empty_like(result)

    @staticmethod
    def backward(ctx, grad):
        return grad, grad.to(ctx.dtype)


class Lora4bit(nn.Module):
    def __init__(self, width, out, dropout):
        super().__init__()
        self.out, self.dropout = out, dropout
        self.a, self.b = nn.Linear(width, RANK, bias=False), nn.Linear(RANK, out, bias=False)

    def forward(self, x):
        result = Base.apply(x.to(torch.bfloat16), self.out).to(x.dtype)
        result = result.clone()
        update = self.b(self.a(Dropout.apply(x) if self.dropout else x)) * 2.0
        return Add.apply(result, update)


def layer_of(dropout):
    config = MistralConfig(hidden_size=HIDDEN, intermediate_size=INNER, num_attention_heads=HEADS,
                           num_key_value_heads=KV_HEADS, head_dim=128, num_hidden_layers=1,
                           attn_implementation="sdpa")
    with torch.device("meta"):
        layer = MistralDecoderLayer(config, 0)
    for parent in (layer.self_attn, layer.mlp):
        for name, module in list(parent.named_children()):
            if isinstance(module, nn.Linear):
                setattr(parent, name, Lora4bit(module.in_features, module.out_features, dropout))
    for name in ("input_layernorm", "post_attention_layernorm"):
        setattr(layer, name, getattr(layer, name).to_empty(device="cpu").requires_grad_(False))
    for parameter in layer.parameters():
        if parameter.requires_grad:
            parameter.grad = torch.zeros_like(parameter)
    return layer


def allocations(prof):
    """(time, address, bytes) in order, bytes below zero are given back; and when the backward begins."""
    found, backward_at = [], [None]

    def walk(event):
        if event.name == "aten::sin":
            backward_at[0] = event.start_time_ns
        if event.tag.name == "Allocation":
            found.append((event.start_time_ns, event.extra_fields.ptr, event.extra_fields.alloc_size))
        for child in event.children:
            walk(child)

    for event in prof.profiler.kineto_results.experimental_event_tree():
        walk(event)
    return sorted(found), backward_at[0]


def measure(dropout, tokens):
    layer = layer_of(dropout)
    x = torch.zeros(4, tokens // 4, HIDDEN, requires_grad=True)
    rotary = (torch.zeros(1, tokens // 4, 128), torch.zeros(1, tokens // 4, 128))
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as prof:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = layer(x, position_embeddings=rotary, attention_mask=None, position_ids=None, past_key_values=None)
        y = y[0] if isinstance(y, tuple) else y
        shape = y.shape
        torch.sin(torch.zeros(1))
        torch.autograd.backward([y], [torch.empty(shape)])
    events, backward_at = allocations(prof)
    live, total, forward, backward, kept = {}, 0, 0, 0, 0
    for time, address, size in events:
        if time >= backward_at and kept == 0:
            kept = total
        if size > 0:
            live[address] = size
            total += size
        elif address in live:
            total -= live.pop(address)
        if time < backward_at:
            forward = max(forward, total)
        else:
            backward = max(backward, total)
    return [round(value / tokens) for value in (kept, forward, backward)]


if __name__ == "__main__":
    tokens = int(sys.argv[1]) if len(sys.argv) > 1 else 1536
    print("dropout, kept and result, highest forward, highest backward, in bytes a token")
    for dropout in (0, 0.05):
        print(dropout, *measure(dropout, tokens))
