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
import tempfile
import traceback
import warnings

warnings.filterwarnings("ignore")

import fake_cuda
import torch
import trainer_batches
from fake_cuda_ledger import Ledger
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_map

import numpy
import peft
import transformers
import transformers.initialization as initialization
import transformers.trainer_pt_utils as trainer_pt_utils
import transformers.utils.import_utils as import_utils
from transformers import AutoConfig, Trainer, TrainerCallback, TrainingArguments

STEPS = 2
PLAIN = dict(report_to=[], logging_strategy="no", save_strategy="no", logging_nan_inf_filter=False, disable_tqdm=True,
             dataloader_pin_memory=False, seed=1, max_steps=STEPS)
PASSED_ON = ("per_device_train_batch_size", "per_device_eval_batch_size", "gradient_accumulation_steps", "bf16", "fp16",
             "optim", "gradient_checkpointing", "gradient_checkpointing_kwargs", "eval_accumulation_steps",
             "prediction_loss_only")
ONLINE = ("grpo", "rloo")
SEQ2SEQ = ("t5", "bart", "whisper")


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


def model_of(request):
    fields = dict(request["model"]["config"])
    config = AutoConfig.for_model(fields.pop("model_type"), **fields)
    arguments = request["model_args"]
    kind = transformers.AutoModelForCausalLM
    if config.model_type in SEQ2SEQ:
        kind = transformers.AutoModelForSpeechSeq2Seq if config.model_type == "whisper" else transformers.AutoModelForSeq2SeqLM
    if "vision" in request:
        kind = transformers.AutoModelForImageTextToText
    if request.get("task") in ("classification", "reward"):
        kind, config.num_labels = transformers.AutoModelForSequenceClassification, arguments["num_labels"]
    with torch.device("cuda"):
        model = kind.from_config(config, dtype=getattr(torch, arguments["dtype"]),
                                 attn_implementation=arguments["attn_implementation"])
    model.tie_weights()
    return model


def peft_config(request):
    fields = dict(request["peft"])
    method = peft.PEFT_TYPE_TO_CONFIG_MAPPING[peft.PeftType(fields.pop("peft_type", "LORA"))]
    task = "SEQ_CLS" if request.get("task") in ("classification", "reward") else "CAUSAL_LM"
    if request["model"]["config"]["model_type"] in SEQ2SEQ:
        task = "SEQ_2_SEQ_LM"
    if request["model"]["config"]["model_type"] == "whisper":  # PEFT's own class for the task wants input_ids
        task = None
    return method(task_type=task, **fields)


class Loader:
    """Batches that were made before, sent to the GPU when they are asked for, as DataLoaderShard does."""

    def __init__(self, batches, size):
        self.batches, self.batch_size, self.dataset = batches, size, [0] * (len(batches) * size)

    def __len__(self):
        return len(self.batches)

    def __iter__(self):
        for batch in self.batches:
            yield {key: x.to("cuda") if isinstance(x, torch.Tensor) else x for key, x in batch.items()}


class Phases(TrainerCallback):
    def __init__(self, ledger):
        self.ledger = ledger

    def on_pre_optimizer_step(self, args, state, control, **kwargs):
        self.ledger.enter(f"optimizer {state.global_step + 1}")

    def on_step_end(self, args, state, control, **kwargs):
        gc.collect(0)
        self.ledger.enter("between")


def follow(trainer, ledger, batches, size):
    trainer.get_train_dataloader = lambda: Loader(batches, size)
    trainer.add_callback(Phases(ledger))
    step, backward = trainer.training_step, trainer.accelerator.backward

    def training_step(*args, **kwargs):
        ledger.enter(f"forward {trainer.state.global_step + 1}")
        return step(*args, **kwargs)

    def go_backward(*args, **kwargs):
        ledger.enter(f"backward {trainer.state.global_step + 1}")
        backward(*args, **kwargs)
        ledger.enter("between")

    trainer.training_step, trainer.accelerator.backward = training_step, go_backward


def metrics_of(request):
    """Trainer keeps all logits for a function that computes metrics, whatever it computes."""
    return (lambda predictions: {}) if request["training"].get("compute_metrics") else None


def eval_batches_of(request):
    return request.get("data", {}).get("eval_samples", 0) // request["training"].get("per_device_eval_batch_size", 8) or 2


def evaluate(request, trainer, ledger, batches):
    if request["training"]["eval_strategy"] == "no":
        return
    size = request["training"]["per_device_eval_batch_size"]
    trainer.get_eval_dataloader = lambda *args, **kwargs: Loader(batches, size)
    ledger.enter("eval")
    trainer.eval_dataset = trainer.train_dataset
    trainer.evaluate()
    gc.collect()
    ledger.enter("between")


def run_plain(request, ledger, modes):
    training = request["training"]
    arguments = {key: training[key] for key in PASSED_ON if key in training}
    count = STEPS * training["gradient_accumulation_steps"]
    seq2seq = request["model"]["config"]["model_type"] in SEQ2SEQ
    kind = transformers.Seq2SeqTrainer if seq2seq else Trainer
    made = transformers.Seq2SeqTrainingArguments if seq2seq else TrainingArguments
    size = training["per_device_train_batch_size"]
    batches = [trainer_batches.batch_of(request, size) for _ in range(count)]
    eval_size = training.get("per_device_eval_batch_size", 8)
    eval_batches = [trainer_batches.batch_of(request, eval_size) for _ in range(eval_batches_of(request))]
    with modes():
        model = model_of(request)
        if request.get("peft"):
            with torch.device("cuda"):
                model = peft.get_peft_model(model, peft_config(request))
        with tempfile.TemporaryDirectory() as folder:
            trainer = kind(model=model, args=made(output_dir=folder, remove_unused_columns=False, **PLAIN, **arguments),
                           train_dataset=[0] * 100, data_collator=lambda x: x, compute_metrics=metrics_of(request))
            follow(trainer, ledger, batches, size)
            begin(ledger, trainer.model)
            trainer.train()
            gc.collect()
            evaluate(request, trainer, ledger, eval_batches)


def trl_classes(task):
    import trl
    import trl.trainer.dpo_trainer
    import trl.trainer.utils

    trl.trainer.dpo_trainer.hash_module = lambda *args, **kwargs: "0"
    trl.trainer.utils._use_triton = lambda device: True  # which tokens are scored; the tiles themselves are plain
    trl.kernels.chunked_logprob._forward_tile = trl.kernels.chunked_logprob._backward_tile = lambda *args, **kwargs: None
    if task == "orpo":
        import trl.experimental.orpo as orpo

        return orpo.ORPOConfig, orpo.ORPOTrainer
    name = {"sft": "SFT", "dpo": "DPO", "kto": "KTO", "reward": "Reward", "grpo": "GRPO", "rloo": "RLOO"}[task]
    return getattr(trl, f"{name}Config"), getattr(trl, f"{name}Trainer")


def run_trl(request, ledger, modes):
    import datasets

    import trl.kernels.chunked_logprob  # its Triton kernels write in place

    datasets.disable_progress_bars()
    training, task = request["training"], request["task"]
    size, length = training["per_device_train_batch_size"], training["max_length"]
    config, kind = trl_classes(task)
    arguments = {key: training[key] for key in PASSED_ON if key in training}
    if task in ONLINE:
        arguments.update(num_generations=request["rl"]["num_generations"], beta=0.0,
                         max_completion_length=request["rl"]["max_completion_length"])
    else:
        arguments["max_length"] = length
    if task == "sft":
        arguments["packing"] = training["packing"]
    rows = datasets.Dataset.from_dict(trainer_batches.preference_rows(task, length, max(8, 4 * size), training["packing"]))
    more = {"reward_funcs": lambda completions, **kwargs: [0.0] * len(completions)} if task in ONLINE else {}
    if task == "sft":
        more["compute_metrics"] = metrics_of(request)
    if request.get("peft"):
        more["peft_config"] = peft_config(request)
    with tempfile.TemporaryDirectory() as folder:
        arguments = config(output_dir=folder, **PLAIN, **arguments)
        with modes():
            if task in ("dpo", "kto") and not request.get("peft"):
                more["ref_model"] = model_of(request)
            trainer = kind(model=model_of(request), args=arguments, train_dataset=rows,
                           processing_class=trainer_batches.tokenizer(), **more)
        count = STEPS * training["gradient_accumulation_steps"]
        if task in ONLINE:
            batches = trainer_batches.given_completions(trainer, size, length, count)
        else:
            some = [trainer.train_dataset[i] for i in range(size)]
            batches = [trainer.data_collator([dict(row) for row in some]) for _ in range(count)]
        with modes():
            follow(trainer, ledger, batches, size)
            begin(ledger, trainer.model, getattr(trainer, "ref_model", None))
            trainer.train()
            gc.collect()
            if training["eval_strategy"] != "no":
                some = [dict(trainer.train_dataset[i]) for i in range(training["per_device_eval_batch_size"])]
                evaluate(request, trainer, ledger, [trainer.data_collator(some) for _ in range(eval_batches_of(request))])


def begin(ledger, model, reference=None):
    gc.collect()
    for network in [model] + ([reference] if reference is not None and reference is not model else []):
        for tensor in [*network.parameters(), *network.buffers()]:
            ledger.see(tensor, "weights")
    ledger.start = ledger.now
    ledger.trainable = sum(p.numel() for p in model.parameters() if p.requires_grad)


def measure(request):
    ledger = Ledger()
    fake_cuda.Attention.used = {}

    @contextlib.contextmanager
    def modes():
        with ledger.mode, ledger:
            yield

    (run_trl if request["stack"] == "trl" else run_plain)(request, ledger, modes)
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
