"""Runs of the real trainers on a real card, each in a process of its own: what was allocated, reserved and taken of the
device, when, and how long a step took.

    pip install transformers==5.23.0 peft==0.21.2 trl==1.16.0 bitsandbytes liger-kernel accelerate datasets
    python tests/measured/gpu_runs.py cases.json seen.jsonl [SECONDS]

A case is a request of the contract (draw_gpu_cases.py) for a model of presets/models. Weights are drawn; rows are as long as
the request says. `bisect` asks for the least memory that PyTorch may take (set_per_process_memory_fraction) with which the run
gets through. Without a card the runs are made on the CPU, of small models, to try the script.
"""

import contextlib
import gc
import json
import logging
import os
import signal
import subprocess
import sys
import time
import traceback
import warnings

os.environ.update(TOKENIZERS_PARALLELISM="false", HF_HUB_OFFLINE="1", PYTORCH_NVML_BASED_CUDA_CHECK="1")
warnings.filterwarnings("ignore")

import torch
import trainer_runs
import transformers
from transformers import AutoConfig

STEPS, TRIES = 6, 5
CARD = os.path.exists("/dev/nvidia0")
HERE = os.path.dirname(os.path.abspath(__file__))


class Recorder:
    def __init__(self):
        self.phase, self.phases, self.begun, self.device, self.reserved = "load", {}, {}, 0, 0

    def enter(self, phase):
        if CARD:
            torch.cuda.synchronize()
            free, total = torch.cuda.mem_get_info()
            self.device = max(self.device, total - free)
            seen = [torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()]
            self.phases[self.phase] = [max(a, b) for a, b in zip(self.phases.get(self.phase, [0, 0]), seen)]
            torch.cuda.reset_peak_memory_stats()
        self.begun.setdefault(phase, time.perf_counter())
        self.phase = phase

    def begin(self, model, reference=None):
        gc.collect()
        if CARD:
            torch.cuda.empty_cache()
        self.enter("between")
        self.phases, self.begun, self.device = {}, {}, 0
        self.start = torch.cuda.memory_allocated() if CARD else 0
        self.start_reserved = torch.cuda.memory_reserved() if CARD else 0
        self.trainable = sum(p.numel() for p in model.parameters() if p.requires_grad)

    def seconds(self):
        at = [self.begun[f"forward {step}"] for step in range(1, 100) if f"forward {step}" in self.begun]
        return [round(later - before, 4) for before, later in zip(at, at[1:])]


def with_config(request):
    fields = json.load(open(os.path.join(HERE, "../../presets/models", request["model"] + ".json")))["config"]
    fields = {key: value for key, value in fields.items() if value is not None}
    said = AutoConfig.for_model(**fields).to_dict()
    for key in ("image_token_id", "image_token_index", "vision_start_token_id", "mm_tokens_per_image", "scale_factor"):
        if key in said:
            fields.setdefault(key, said[key])
    if "vision_config" in said:
        fields["vision_config"] = {**{key: said["vision_config"][key] for key in said["vision_config"] if key in (
            "patch_size", "spatial_merge_size", "temporal_patch_size", "image_size")}, **fields["vision_config"]}
    return dict(small(request, fields), model={"name": request["model"], "config": fields})


def small(request, fields):
    """What a CPU gets through."""
    if CARD:
        return request
    fields.update(num_hidden_layers=2, layer_types=None)
    for part in ("text_config", "vision_config"):
        if part in fields:
            fields[part] = dict(fields[part], **{"depth" if "depth" in fields[part] else "num_hidden_layers": 2})
    length = 1280 if "vision" in request else 256 if request["task"] == "grpo" else 64
    size = request.get("rl", {}).get("num_generations", 2)
    training = dict(request["training"], max_length=length, bf16=False, per_device_train_batch_size=size, optim="adamw_torch",
                    per_device_eval_batch_size=2, use_liger_kernel=False)
    request = dict(request, training=training)
    if "rl" in request:
        request["rl"] = dict(request["rl"], max_completion_length=8)
    if "data" in request:
        request["data"] = {"p50_length": 20, "p95_length": 50, "longest_length": 64}
    return request


def run(case, cap):
    """In the process of the case alone: what was seen, or how it died."""
    request, recorder = case["request"], Recorder()
    trainer_runs.DEVICE = "cuda" if CARD else "cpu"
    seen = {}
    if CARD:
        free, total = torch.cuda.mem_get_info()
        seen["context"] = total - free
        if cap is not None:
            torch.cuda.set_per_process_memory_fraction(cap / total)
    steps = (case.get("steps", STEPS) if cap is None else 5) if CARD else 2
    try:
        trainer_runs.run(with_config(request), recorder, steps, contextlib.nullcontext, given=False)
    except Exception as reason:
        lines = traceback.format_exception(reason)
        seen["died"] = {"type": type(reason).__name__, "phase": recorder.phase, "message": str(reason)[:1500],
                        "traceback": "".join(lines)[-6000:]}
        return seen
    recorder.enter("end")
    seen.update(start=recorder.start, start_reserved=recorder.start_reserved, trainable=recorder.trainable,
                device=recorder.device, seconds=recorder.seconds(), phases=recorder.phases)
    if CARD:
        stats = torch.cuda.memory_stats()
        seen.update(retries=stats["num_alloc_retries"], inactive_split=stats["inactive_split_bytes.all.peak"])
    return seen


def in_a_process(case, cap, limit):
    """Forked, so that nothing has to be imported again; the parent never touches the card."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        settings = case["request"].get("hardware", {}).get("PYTORCH_CUDA_ALLOC_CONF")
        if settings:
            os.environ["PYTORCH_CUDA_ALLOC_CONF"] = settings
        os.dup2(2, 1)
        try:
            seen = run(case, cap)
        except BaseException as reason:
            seen = {"failed": f"{type(reason).__name__}: {reason}"[:600], "traceback": traceback.format_exc()[-3000:]}
        os.write(write, json.dumps(seen).encode())
        os._exit(0)
    os.close(write)
    signal.signal(signal.SIGALRM, lambda *args: os.kill(child, signal.SIGKILL))
    signal.alarm(limit)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    signal.alarm(0)
    return json.loads(text) if text else {"failed": f"nothing came back in {limit} seconds"}


def least_memory(case, seen, limit):
    """Between what was allocated and what was reserved without a limit, to 1/32 of that."""
    low = max(peaks[0] for peaks in seen["phases"].values())
    high = max(peaks[1] for peaks in seen["phases"].values())
    tries = []
    for _ in range(TRIES):
        cap = (low + high) // 2
        tried = in_a_process(case, cap, limit)
        tries.append({"cap": cap, **{key: tried[key] for key in ("died", "retries", "seconds", "failed") if key in tried}})
        low, high = (cap, high) if "died" in tried or "failed" in tried else (low, cap)
    return {"died_with": low, "ran_with": high, "tries": tries}


def main(path, out, budget):
    begun = time.perf_counter()
    transformers.logging.set_verbosity_error()
    logging.disable(logging.WARNING)
    import accelerate
    import datasets
    import peft
    import trl

    said = {part.__name__: part.__version__ for part in (torch, transformers, peft, trl, accelerate)}
    if CARD:
        said["card"] = subprocess.run(["nvidia-smi", "--query-gpu=name,memory.used,memory.total,driver_version", "--format=csv,noheader"],
                                      capture_output=True, text=True).stdout.strip()
    with open(out, "w") as file:
        file.write(json.dumps(said) + "\n")
        for case in json.load(open(path))["cases"]:
            left = budget - (time.perf_counter() - begun)
            if left < 20:
                print("out of time", flush=True)
                break
            at = time.perf_counter()
            seen = in_a_process(case, None, int(min(left, case.get("limit", 60 if CARD else 150))))
            if case.get("bisect") and seen.get("phases") and budget - (time.perf_counter() - begun) > 60:
                seen["least"] = least_memory(case, seen, 30)
            file.write(json.dumps({"name": case["name"], "request": case["request"], "seen": seen}) + "\n")
            file.flush()
            peak = [round(max(x) / 2**30, 2) for x in zip(*seen["phases"].values())] if seen.get("phases") else ""
            said = seen.get("failed") or (seen.get("died") or {}).get("message", "")[:300]
            print(f"{time.perf_counter() - at:5.1f} s {case['name']} {peak} {seen.get('seconds')} {said}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]) if len(sys.argv) > 3 else 3600)
