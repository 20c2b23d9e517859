"""Transformers' Trainer on a drawn run (run.py)."""

import tempfile

import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForLanguageModeling, Trainer, TrainingArguments

from run import words

COMMON = {"max_steps": 2, "eval_steps": 2, "report_to": [], "save_strategy": "no", "logging_strategy": "no", "disable_tqdm": True,
          "use_cpu": True, "dataloader_pin_memory": False, "seed": 1}


def lengths(run, count):
    """Half of the samples are shorter where batches shall need padding."""
    return [run["length"] * 3 // 4 if run.get("padded") and i % 2 else run["length"] for i in range(count)]


def tokens(run, tokenizer, count):
    rows = [tokenizer(words(length, 3 * i))["input_ids"] for i, length in enumerate(lengths(run, count))]
    return Dataset.from_dict({"input_ids": rows, "attention_mask": [[1] * len(row) for row in rows]})


def count_of(run):
    """Samples of two steps; of two batches in an evaluation."""
    args = run["args"]
    return 2 * args["per_device_train_batch_size"], 2 * args.get("per_device_eval_batch_size", 8)


def request_of(run, args):
    kept = ("per_device_train_batch_size", "per_device_eval_batch_size", "eval_strategy", "bf16", "optim", "gradient_checkpointing",
            "gradient_checkpointing_kwargs", "prediction_loss_only", "packing")
    training = {k: v for k, v in run["args"].items() if k in kept}
    training.update(max_length=run["length"], padded_batches=bool(run.get("padded")), gradient_accumulation_steps=1)
    training.setdefault("packing", False)
    request = {"stack": run["stack"], "model_args": {"dtype": run["dtype"]}, "training": training}
    if "compute_metrics" in run:
        training["compute_metrics"] = run["compute_metrics"]
    if "peft" in run:
        request["peft"] = run["peft"]
    if args.eval_strategy != "no":
        request["data"] = {"eval_samples": count_of(run)[1]}
    return request


def run(run, folder):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, run["dtype"]))
    if "peft" in run:
        from peft import LoraConfig, get_peft_model

        model = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", **run["peft"]))
    args = TrainingArguments(tempfile.mkdtemp(), **COMMON, **run["args"])
    train, evaluation = (tokens(run, tokenizer, count) for count in count_of(run))
    metrics = (lambda predicted: {}) if run.get("compute_metrics") else None
    Trainer(model, args, data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False), train_dataset=train,
            eval_dataset=evaluation, compute_metrics=metrics).train()
    return request_of(run, args), None
