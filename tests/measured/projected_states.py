"""What GaLore's and APOLLO's optimizers hold of one matrix after a step, in bytes: real classes, on a CPU.

    pip install torch galore-torch apollo-torch && python projected_states.py

Counts the storages that the state refers to, not the views: GaLore's projector of fp32 matrices is a view into
the whole U or V of the singular value decomposition, which stays as long as the view does.
"""
import sys
import types

import torch

import transformers.utils.versions  # noqa: E402, F401

for name in ("bitsandbytes", "bitsandbytes.functional", "bitsandbytes.optim", "bitsandbytes.optim.optimizer"):
    try:
        __import__(name)
    except Exception:  # the 8-bit classes beside these want it; the measured ones do not
        module = types.ModuleType(name)
        module.Optimizer2State = object
        module.functional = None
        sys.modules[name] = module

from apollo_torch.apollo import AdamW as Apollo  # noqa: E402
from galore_torch.adamw import AdamW as GaLore  # noqa: E402


def storages(value, seen):
    if isinstance(value, torch.Tensor):
        seen[value.untyped_storage().data_ptr()] = value.untyped_storage().nbytes()
    elif isinstance(value, dict):
        for item in value.values():
            storages(item, seen)
    elif hasattr(value, "__dict__"):
        storages(vars(value), seen)
    return seen


def held(optimizer, rows, columns, dtype, rank):
    weight = torch.nn.Parameter(torch.randn(rows, columns, dtype=dtype))
    group = {"params": [weight], "rank": rank, "update_proj_gap": 200, "scale": 1.0, "proj_type": "std"}
    if optimizer is Apollo:
        group |= {"proj": "random", "scale_type": "channel"}
    run = optimizer([group], lr=1e-3)
    weight.grad = torch.randn_like(weight)
    run.step()
    state = {k: v for k, v in run.state[weight].items() if k != "seed"}
    return sum(n for n in storages(state, {}).values() if n > 64)


for optimizer in (GaLore, Apollo):
    for dtype in (torch.bfloat16, torch.float32):
        for rows, columns in ((1376, 512), (512, 512), (512, 1376)):
            print(optimizer.__module__, dtype, rows, columns, held(optimizer, rows, columns, dtype, 128))
