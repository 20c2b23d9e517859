"""Bytes a logit that the log-probability losses of TRL allocate, forward and backward.

    python tests/measured/log_probs.py

Runs the code of huggingface/trl (trainer/utils.py selective_log_softmax from v0.15 on; log_softmax and gather before)
on small real tensors and adds up the allocations and frees that PyTorch's own profiler reports on a CPU, so that the
autograd engine decides what is added in place. Needs torch and nothing else. Its table is that of
tests/core/memory/tasks_test.cpp. On a CPU scatter_add_ works on an fp32 copy of 16-bit values; a GPU makes none.
"""

import torch
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile, record_function


def phases(steps):
    """`steps` yields a name after each phase; gives {name: (highest, still there)} in bytes."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as recorded:
        for name in steps():
            with record_function("phase " + name):
                pass
    events = []
    for event in recorded.profiler.kineto_results.events():
        if event.name() == "[memory]":
            events.append((event.start_ns(), event.nbytes()))
        elif event.name().startswith("phase "):
            events.append((event.start_ns(), event.name()[6:]))
    live = highest = 0
    result = {}
    for _, what in sorted(events, key=lambda event: event[0]):
        if isinstance(what, str):
            result[what] = (highest, live)
            highest = live
        else:
            live += what
            highest = max(highest, live)
    return result


def selective_log_softmax(logits, index):
    if logits.dtype == torch.float32:
        selected = torch.gather(logits, dim=-1, index=index.unsqueeze(-1)).squeeze(-1)
        return selected - torch.stack([torch.logsumexp(row, dim=-1) for row in logits])
    rows = []
    for row, labels in zip(logits, index):
        rows.append(F.log_softmax(row, dim=-1).gather(dim=-1, index=labels.unsqueeze(-1)).squeeze(-1))
    return torch.stack(rows)


def log_softmax_gather(logits, index):
    return torch.gather(logits.log_softmax(-1), dim=2, index=index.unsqueeze(2)).squeeze(2)


def measure(kernel, batch, autocast, divide=False, entropy=False, length=128, words=50000, hidden=8):
    head = torch.randn(words, hidden, dtype=torch.bfloat16)
    states = torch.randn(batch, length, hidden, dtype=torch.bfloat16, requires_grad=True)
    ids = torch.randint(0, words, (batch, length))

    def loss():
        logits = F.linear(states, head)
        if autocast:  # accelerate converts 16-bit outputs
            logits = logits.float()
        logits = logits[:, :-1, :]
        if divide:
            logits.div_(0.9)
        log_probabilities = kernel(logits, ids[:, 1:])
        if entropy:
            with torch.no_grad():
                for chunk in logits.reshape(-1, words).split(128, dim=0):
                    chunk = F.log_softmax(chunk, dim=-1)
                    -(torch.exp(chunk) * chunk).sum(-1)
        return log_probabilities.sum()

    def steps():
        result = loss()
        yield "forward"
        result.backward()
        yield "backward"

    elements = batch * length * words
    forward, backward = (phases(steps)[name] for name in ("forward", "backward"))
    return forward[0] / elements, forward[1] / elements, backward[0] / elements


if __name__ == "__main__":
    print("kernel                 batch autocast divided  forward   held  backward")
    for kernel in (selective_log_softmax, log_softmax_gather):
        for autocast in (True, False):
            for batch in (1, 4, 8):
                for divide in (False, True):
                    row = measure(kernel, batch, autocast, divide)
                    print(f"{kernel.__name__:22} {batch:5} {autocast!s:8} {divide!s:7} {row[0]:8.2f} {row[1]:6.2f} {row[2]:9.2f}")
