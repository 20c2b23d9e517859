"""A request of the contract whose stack is Unsloth, as Unsloth loads and trains it. Weights are drawn, written and loaded again,
because Unsloth quantizes and patches a model while it loads.

    pip install unsloth==2026.10.9 unsloth_zoo==2026.10.9 xformers==0.0.35 transformers==5.17.0 trl==1.15.0 peft==0.21.2
    python tests/measured/gpu_runs.py unsloth_cases.json seen.jsonl [SECONDS]

Imported before torch and Transformers: Unsloth patches what is imported after it.
"""

import unsloth  # noqa: F401, I001

import os
import shutil
import sys
import tempfile

import torch
import trainer_batches
import trainer_runs
import transformers

ROOM = "/dev/shm" if os.path.isdir("/dev/shm") and trainer_runs.REAL else None
PASSED_ON = ("per_device_train_batch_size", "gradient_accumulation_steps", "bf16", "optim")


def written(request):
    """A folder with the model and a tokenizer, as from_pretrained finds them."""
    folder = tempfile.mkdtemp(dir=ROOM)
    plain = {key: value for key, value in request.items() if key != "quantization"}
    plain["model_args"] = {"attn_implementation": "sdpa", **request["model_args"]}
    model = trainer_runs.model_of(plain)
    model.save_pretrained(folder)
    trainer_batches.tokenizer().save_pretrained(folder)
    return folder


def checkpoints(training):
    """Those of Unsloth wait in host memory."""
    return "unsloth" if training["gradient_checkpointing"] and training.get("activation_offloading", True) else \
        training["gradient_checkpointing"]


def loaded(request, folder):
    training = request["training"]
    kind = unsloth.FastModel if "vision" in request or request["model"]["config"]["model_type"].startswith("gemma3") \
        else unsloth.FastLanguageModel
    model, tokenizer = kind.from_pretrained(
        folder, max_seq_length=training["max_length"], dtype=getattr(torch, request["model_args"]["dtype"]),
        load_in_4bit=request.get("quantization", {}).get("load_in_4bit", False), full_finetuning="peft" not in request,
        use_gradient_checkpointing=checkpoints(training))
    if "peft" not in request:
        return model, tokenizer
    return kind.get_peft_model(model, use_gradient_checkpointing=checkpoints(training), random_state=1,
                               max_seq_length=training["max_length"], **request["peft"]), tokenizer


def run(request, recorder, steps):
    import datasets

    datasets.disable_progress_bars()
    training, task = request["training"], request["task"]
    size, length = training["per_device_train_batch_size"], training["max_length"]
    folder = written(request)
    torch.cuda.empty_cache()
    model, tokenizer = loaded(request, folder)
    shutil.rmtree(folder)
    config, kind = trainer_runs.trl_classes(task)
    arguments = {key: training[key] for key in PASSED_ON if key in training}
    arguments.update(trainer_runs.online_arguments(request, False) if task in trainer_runs.ONLINE else {"max_length": length})
    if task == "sft":
        arguments["packing"] = training["packing"]
    count = steps * training["gradient_accumulation_steps"]
    rows = datasets.Dataset.from_dict(trainer_batches.preference_rows(request, max(8, size * count)))
    more = {"reward_funcs": lambda completions, **kwargs: [0.0] * len(completions)} if task in trainer_runs.ONLINE else {}
    with tempfile.TemporaryDirectory() as out:
        arguments = config(output_dir=out, max_steps=steps, **trainer_runs.PLAIN, **arguments)
        trainer = kind(model=model, args=arguments, train_dataset=rows, processing_class=tokenizer, **more)
        batches = None
        if task not in trainer_runs.ONLINE:
            some = [trainer.train_dataset[i] for i in range(size)]
            batches = [trainer.data_collator([dict(row) for row in some]) for _ in range(count)]
        print({key: tuple(x.shape) for key, x in (batches or [{}])[0].items() if hasattr(x, "shape")},
              "padding_free", getattr(trainer.args, "padding_free", None), file=sys.stderr)
        trainer_runs.follow(trainer, recorder, batches, size)
        recorder.begin(trainer.model)
        trainer.train()
