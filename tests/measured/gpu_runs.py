"""Runs of the real trainers on a real card, each in a process of its own: what was allocated, reserved and taken of the
device, when, and how long a step took.

    pip install transformers==5.23.0 peft==0.21.2 trl==1.16.0 bitsandbytes liger-kernel accelerate datasets
    python tests/measured/gpu_runs.py cases.json seen.jsonl [SECONDS]

A case is a request of the contract (draw_gpu_cases.py) for a model of presets/models. Weights are drawn; rows are as long as
the request says. What has been `seen` is left out. A case that says what it `needs` (GiB) runs beside others, else alone,
which is timed. `bisect` asks for the least memory that PyTorch may take (set_per_process_memory_fraction) with which the run
gets through. Without a card the runs are made on the CPU, of small models, to try the script.

Cases of Unsloth (unsloth_runs.py) find its packages in the folder that SITE_UNSLOTH names, before those of the others.
"""

import contextlib
import gc
import importlib.metadata
import json
import logging
import os
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings

os.environ.update(TOKENIZERS_PARALLELISM="false", HF_HUB_OFFLINE="1")
warnings.filterwarnings("ignore")

STEPS, TRIES, LANES = 4, 5, int(os.environ.get("LANES", "3"))
WHOLE = 77  # GiB
CARD = os.path.exists("/dev/nvidia0")
HERE = os.path.dirname(os.path.abspath(__file__))


if "--wait" in sys.argv:
    ANSWERS = os.dup(1)  # what libraries print goes elsewhere
    os.dup2(2, 1)
    if os.environ.get("STACK") == "unsloth":
        import unsloth  # noqa: F401, patches what is imported after it
    import torch
    import trainer_runs
    import transformers
    from transformers import AutoConfig


class Recorder:
    def __init__(self):
        self.phase, self.phases, self.begun, self.device = "load", {}, {}, 0
        self.spent, self.at = {}, time.perf_counter()

    def enter(self, phase):
        if CARD:
            torch.cuda.synchronize()
            free, total = torch.cuda.mem_get_info()
            self.device = max(self.device, total - free)
            seen = [torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()]
            self.phases[self.phase] = [max(a, b) for a, b in zip(self.phases.get(self.phase, [0, 0]), seen)]
            torch.cuda.reset_peak_memory_stats()
        now = time.perf_counter()
        self.spent[self.phase] = self.spent.get(self.phase, 0) + now - self.at
        self.begun.setdefault(phase, now)
        self.phase, self.at = phase, now

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
    # No window is said by null; left out, Mistral's class has one of 4,096.
    fields = {key: value for key, value in fields.items() if value is not None or key == "sliding_window"}
    said = AutoConfig.for_model(**fields).to_dict()
    for key in ("image_token_id", "image_token_index", "vision_start_token_id", "mm_tokens_per_image", "scale_factor"):
        if key in said:
            fields.setdefault(key, said[key])
    rows = fields.get("text_config", fields).get("vocab_size", 0)
    if fields.get("image_token_id", 0) >= rows > 0:  # the class's own default, of a larger vocabulary
        fields["image_token_id"] = rows - 1
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
    trainer_runs.DEVICE, trainer_runs.REAL = "cuda" if CARD else "cpu", True
    seen = {}
    if CARD:
        free, total = torch.cuda.mem_get_info()
        seen["context"] = total - free
        if cap is not None:
            torch.cuda.set_per_process_memory_fraction(cap / total)
    steps = (case.get("steps", STEPS) if cap is None else 5) if CARD else 2
    try:
        asked = with_config(request)
        if request["stack"] == "unsloth":
            import unsloth_runs

            unsloth_runs.run(asked, recorder, steps)
        else:
            trainer_runs.run(asked, recorder, steps, contextlib.nullcontext, given=False)
    except Exception as reason:
        lines = traceback.format_exception(reason)
        seen["died"] = {"type": type(reason).__name__, "phase": recorder.phase, "message": str(reason)[:1500],
                        "traceback": "".join(lines)[-6000:]}
        return seen
    recorder.enter("end")
    spent = {phase: round(seconds, 4) for phase, seconds in recorder.spent.items()}
    seen.update(start=recorder.start, start_reserved=recorder.start_reserved, trainable=recorder.trainable,
                device=recorder.device, seconds=recorder.seconds(), spent=spent, phases=recorder.phases)
    if CARD:
        stats = torch.cuda.memory_stats()
        seen.update(process=memory_of_process(), retries=stats["num_alloc_retries"],
                    inactive_split=stats["inactive_split_bytes.all.peak"])
    return seen


def memory_of_process():
    """As nvidia-smi says it of this process alone, where the driver tells."""
    import pynvml

    try:
        pynvml.nvmlInit()
        running = pynvml.nvmlDeviceGetComputeRunningProcesses(pynvml.nvmlDeviceGetHandleByIndex(0))
        return {process.pid: process.usedGpuMemory for process in running}.get(os.getpid())
    except pynvml.NVMLError as reason:
        return str(reason)


class Worker:
    """A process that has imported everything and waits for its case. The next one gets ready while this one runs."""

    def __init__(self, settings):
        allocator, stack = settings
        given = {**os.environ, "STACK": stack, **({"PYTORCH_CUDA_ALLOC_CONF": allocator} if allocator else {})}
        if stack == "unsloth":
            given.update(PYTHONPATH=os.environ.get("SITE_UNSLOTH", ""), UNSLOTH_COMPILE_LOCATION=tempfile.mkdtemp(),
                         UNSLOTH_DISABLE_STATISTICS="1")
        self.process = subprocess.Popen([sys.executable, __file__, "--wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=given)

    def run(self, case, cap, limit):
        self.process.stdin.write(json.dumps({"case": case, "cap": cap}) + "\n")
        self.process.stdin.close()
        stopped = threading.Timer(limit, self.process.kill)
        stopped.start()
        said = self.process.stdout.read()
        self.process.wait()
        stopped.cancel()
        return json.loads(said) if said else {"failed": f"nothing came back in {limit:.0f} seconds"}


def wait():
    """What a worker does."""
    import bitsandbytes, datasets, peft, trl  # noqa: F401, E401

    transformers.logging.set_verbosity_error()
    logging.disable(logging.WARNING)
    asked = json.loads(sys.stdin.readline())
    try:
        seen = run(asked["case"], asked["cap"])
    except BaseException as reason:
        seen = {"failed": f"{type(reason).__name__}: {reason}"[:600], "traceback": traceback.format_exc()[-3000:]}
    os.write(ANSWERS, json.dumps(seen).encode())
    os._exit(0)


class Workers:
    """Ready ones, for the settings of the allocator that the coming runs ask for."""

    AHEAD = 3

    def __init__(self, cases):
        self.lock, self.ready = threading.Lock(), {}
        for case in cases[:LANES]:
            self.add(settings_of(case))

    def add(self, settings):
        self.ready.setdefault(settings, []).append(Worker(settings))

    def run(self, case, cap, limit):
        settings = settings_of(case)
        with self.lock:
            if not self.ready.get(settings):
                self.add(settings)
            worker = self.ready[settings].pop(0)
            if len(self.ready[settings]) < self.AHEAD:
                self.add(settings)
        return worker.run(case, cap, limit)

    def end(self):
        for worker in sum(self.ready.values(), []):
            worker.process.kill()


def settings_of(case):
    """What a process must know before it imports anything."""
    request = case["request"]
    return request.get("hardware", {}).get("PYTORCH_CUDA_ALLOC_CONF", ""), request["stack"] if request["stack"] == "unsloth" else ""


def least_memory(workers, case, seen, limit):
    """Between what was allocated and what was reserved without a limit, to 1/32 of that."""
    low = max(peaks[0] for peaks in seen["phases"].values())
    high = max(peaks[1] for peaks in seen["phases"].values())
    tries = []
    for _ in range(TRIES):
        cap = (low + high) // 2
        tried = workers.run(case, cap, limit)
        tries.append({"cap": cap, **{key: tried[key] for key in ("died", "retries", "seconds", "failed") if key in tried}})
        low, high = (cap, high) if "died" in tried or "failed" in tried else (low, cap)
    return {"died_with": low, "ran_with": high, "tries": tries}


def versions():
    parts = ("torch", "transformers", "peft", "trl", "accelerate", "bitsandbytes")
    return {part: importlib.metadata.version(part) for part in parts}


class Card:
    """Runs that fit beside each other run beside each other; what `needs` the whole card runs alone, which is timed."""

    def __init__(self, cases, budget):
        self.cases, self.end, self.free, self.free_lanes = list(cases), time.perf_counter() + budget, WHOLE, LANES
        self.change = threading.Condition()

    def left(self):
        return self.end - time.perf_counter()

    def next(self):
        """Waits until one fits; None when there is none, or no time."""
        with self.change:
            while self.cases and self.left() > 20:
                alone = self.cases[0]["needs"] >= WHOLE
                fits = [case for case in self.cases[: 1 if alone else None] if case["needs"] <= self.free]
                if fits:
                    self.cases.remove(fits[0])
                    self.free -= fits[0]["needs"]
                    return fits[0]
                self.change.wait(1)
        return None

    def done(self, case):
        with self.change:
            self.free += case["needs"]
            self.change.notify_all()


def lane(card, workers, out):
    while (case := card.next()) is not None:
        at = time.perf_counter()
        seen = workers.run(case, None, max(1, min(card.left(), case.get("limit", 60 if CARD else 150))))
        if case.get("bisect") and seen.get("phases") and card.left() > 40:
            seen["least"] = least_memory(workers, case, seen, 30)
        card.done(case)
        out.write(json.dumps({"name": case["name"], "alone": case["needs"] >= WHOLE, "seen": seen}) + "\n")
        out.flush()
        peak = [round(max(x) / 2**30, 2) for x in zip(*seen["phases"].values())] if seen.get("phases") else ""
        said = seen.get("failed") or (seen.get("died") or {}).get("message", "")[:200]
        print(f"{card.left():4.0f} left, {time.perf_counter() - at:5.1f} s {case['name']} {peak} {seen.get('seconds')} {said}", flush=True)


def main(path, out, budget):
    said = versions()
    if CARD:
        asked = ["nvidia-smi", "--query-gpu=name,memory.used,memory.total,driver_version", "--format=csv,noheader"]
        said["card"] = subprocess.run(asked, capture_output=True, text=True).stdout.strip()
    cases = [dict({"needs": WHOLE}, **case) for case in json.load(open(path))["cases"] if "seen" not in case]
    workers, card = Workers(cases), Card(cases, budget)
    with open(out, "w") as file:
        file.write(json.dumps(said) + "\n")
        lanes = [threading.Thread(target=lane, args=(card, workers, file)) for _ in range(LANES)]
        for one in lanes:
            one.start()
        for one in lanes:
            one.join()
    workers.end()


if __name__ == "__main__":
    if sys.argv[1] == "--wait":
        wait()
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]) if len(sys.argv) > 3 else 3600)
