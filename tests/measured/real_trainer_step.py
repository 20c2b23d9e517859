"""What steps of the real trainers allocate, on a GPU that is not there.

    pip install torch==2.13.0 transformers==5.23.0 peft==0.21.2 trl==1.16.0 accelerate datasets; see fake_cuda.py for guard.so
    LD_PRELOAD=./guard.so python tests/measured/real_trainer_step.py tests/core/golden/trainer_steps.json > again.json

A case is a request of the contract, drawn by draw_trainer_cases.py before anybody priced it. Trainer, Seq2SeqTrainer or the
TRL trainer of its task makes two optimizer steps with it, and an evaluation where the request asks for one. The answer is
the highest sum of live storages in `forward`, `backward` and `optimizer` of the second step and in `eval`, what the
parameters take (`start`), how many are trained, and SDPA's kernels. Completions of GRPO are given, not generated.

    ... real_trainer_step.py CASES.json --show NAME      # what was alive at the peak of each phase, and which line made it
"""

import contextlib
import gc
import json
import logging
import sys
import traceback
import warnings

warnings.filterwarnings("ignore")

import fake_cuda
import torch
import trainer_runs
from fake_cuda_ledger import Ledger
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_map

import numpy
import peft
import transformers
import transformers.initialization as initialization
import transformers.trainer_pt_utils as trainer_pt_utils
import transformers.utils.import_utils as import_utils

STEPS = 2


def without_values():
    """What Transformers does with values that fake tensors do not have."""
    keep = lambda tensor, *args, **kwargs: tensor  # truncated draws are repeated until they lie within bounds
    for place in (initialization, torch.nn.init):
        place.trunc_normal_ = keep
    initialization.TORCH_INIT_FUNCTIONS["trunc_normal_"] = keep
    import_utils.is_fake_tensor = lambda x: False  # these are run, not traced

    def numpify(tree):
        return tree_map(lambda x: numpy.zeros((x.shape[0] if x.ndim else 1,), dtype=numpy.float32), tree)

    trainer_pt_utils.nested_numpify = numpify
    transformers.logging.set_verbosity_error()
    logging.disable(logging.WARNING)


def without_kernels():
    """TRL's Triton kernels write in place; which tokens are scored stays, the tiles themselves are plain."""
    import trl.kernels.chunked_logprob
    import trl.trainer.dpo_trainer
    import trl.trainer.utils

    trl.trainer.dpo_trainer.hash_module = lambda *args, **kwargs: "0"
    trl.trainer.utils._use_triton = lambda device: True
    trl.kernels.chunked_logprob._forward_tile = trl.kernels.chunked_logprob._backward_tile = lambda *args, **kwargs: None


class Recorder(Ledger):
    def begin(self, model, reference=None):
        gc.collect()
        for network in [model] + ([reference] if reference is not None and reference is not model else []):
            for tensor in [*network.parameters(), *network.buffers()]:
                self.see(tensor, "weights")
        self.start = self.now
        self.trainable = sum(p.numel() for p in model.parameters() if p.requires_grad)


def measure(request):
    ledger = Recorder()
    fake_cuda.Attention.used = {}

    @contextlib.contextmanager
    def modes():
        with ledger.mode, ledger:
            yield

    if request["stack"] == "trl":
        without_kernels()
    trainer_runs.run(request, ledger, STEPS, modes)
    return ledger


def answer(case):
    ledger = measure(case["request"])
    names = {"forward": f"forward {STEPS}", "backward": f"backward {STEPS}", "optimizer": f"optimizer {STEPS}", "eval": "eval"}
    seen = {name: ledger.peaks[phase][0] for name, phase in names.items() if phase in ledger.peaks}
    return ledger, {"start": ledger.start, "trainable": ledger.trainable, "sdpa": fake_cuda.Attention.used, **seen}


def show(case):
    ledger, seen = answer(case)
    print(json.dumps(seen))
    for phase in ledger.peaks:
        if not phase.endswith(str(STEPS)) and phase != "eval":
            continue
        doing, rows = ledger.alive_at_peak(phase)
        print(f"\n{phase}: {ledger.peaks[phase][0]:,} at {doing}")
        for size, count, *birth in rows[:30]:
            print(f"  {size:>14,} {count:>4} {birth}")


def main(path, wanted=None):
    without_values()
    file = json.load(open(path))
    if wanted is not None:
        return show(next(case for case in file["cases"] if case["name"] == wanted))
    file["versions"] = {part.__name__: part.__version__ for part in (torch, transformers, peft, __import__("trl"))}
    for number, case in enumerate(file["cases"]):
        try:
            with contextlib.redirect_stdout(sys.stderr):  # trainers print what they log
                _, case["seen"] = answer(case)
        except Exception as reason:
            traceback.print_exc(limit=-4)
            case["failed"] = f"{type(reason).__name__}: {reason}".splitlines()[0][:160]
        print(f"{number + 1} of {len(file['cases'])}: {case['name']} {case.get('failed', '')}", file=sys.stderr)
        gc.collect()
    rows = ",\n".join("    " + json.dumps(case) for case in file["cases"])
    print("{" + "".join(f"\n  {json.dumps(key)}: {json.dumps(file[key])}," for key in file if key != "cases")
          + '\n  "cases": [\n' + rows + "\n  ]\n}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[3] if sys.argv[2:3] == ["--show"] else None)
