"""What SDPA's math kernel allocates and keeps, seen in PyTorch itself on a CPU.

Grouped key heads without a mask end in this kernel wherever flash cannot run: on a T4 or V100, in float32, with
heads wider than 256 (huggingface/transformers issue 48633, pull request 46960).

    pip install torch
    python tests/measured/math_attention.py

Prints each allocation with the operation that made it, then what is saved for the backward pass. Seen with
torch 2.15: q, k and v are cast to float32 first; q is scaled into a copy; a causal mask of length x length is
made; k and v are copied for every query head, and the copy of k is scaled into another; then the scores, the
softmax and a mask of the scores that are minus infinity. The causal mask is added in place. Saved are the
scaled q, the scaled k, v and the probabilities, all in float32, and nothing of the 16-bit q, k, v. The mask and
the first copy of k are freed when the kernel returns.
"""

import json
import os
import tempfile

import torch
from torch.profiler import ProfilerActivity, profile

BATCH, LENGTH, HEADS, KEY_HEADS, HEAD_DIM = 1, 64, 8, 2, 16


def attend(q, k, v):
    return torch.ops.aten._scaled_dot_product_attention_math(q, k, v, None, 0.0, True, enable_gqa=True)[0]


def show(dtype):
    print(dtype)
    q, k, v = (
        torch.randn(BATCH, heads, LENGTH, HEAD_DIM, dtype=dtype, requires_grad=True)
        for heads in (HEADS, KEY_HEADS, KEY_HEADS)
    )
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        attend(q, k, v)
    trace = os.path.join(tempfile.mkdtemp(), "trace.json")
    seen.export_chrome_trace(trace)
    with open(trace) as file:
        events = json.load(file)["traceEvents"]
    operations = [e for e in events if e.get("cat") == "cpu_op"]
    for event in sorted((e for e in events if e.get("name") == "[memory]"), key=lambda e: e["ts"]):
        around = [o["name"] for o in operations if o["ts"] <= event["ts"] <= o["ts"] + o["dur"]]
        if abs(event["args"]["Bytes"]) >= 1024:
            print("  ", event["args"]["Bytes"], " > ".join(around[1:]))
    saved = {}
    held = []

    def pack(tensor):
        storage = tensor.untyped_storage()
        saved[storage.data_ptr()] = (tuple(tensor.shape), tensor.dtype, storage.nbytes())
        held.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        attend(q, k, v)
    for shape, kind, size in saved.values():
        print("   saved", shape, kind, size, "bytes")


print("torch", torch.__version__)
for each in (torch.float16, torch.bfloat16, torch.float32):
    show(each)
