"""TRL's trainers on a drawn run (run.py)."""

import tempfile

import torch
import trl
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer

import hf_run
from run import words

TRAINERS = {"sft": "SFT", "dpo": "DPO", "reward": "Reward", "kto": "KTO", "grpo": "GRPO"}
IN_RL = ("num_generations", "beta", "loss_type")


def prompt_of(run):
    return run.get("prompt", run["length"] // 4)


def rows(run, count):
    """Samples that are `length` tokens with what the trainers add: an end of text after each answer."""
    task, prompt = run["task"], prompt_of(run)
    answer = run["length"] - prompt - 1
    if task == "sft":
        ends = 0 if run.get("packed") else 1
        return {"text": [words(length - ends, 3 * i) for i, length in enumerate(hf_run.lengths(run, count))]}
    prompts = [words(prompt, i) for i in range(count)]
    if task == "grpo":
        return {"prompt": prompts}
    answers = [[" " + words(answer, 3 * i + j) for i in range(count)] for j in (1, 2)]
    if task == "kto":
        return {"prompt": prompts, "completion": answers[0], "label": [i % 2 == 0 for i in range(count)]}
    return {"prompt": prompts, "chosen": answers[0], "rejected": answers[1]}


def arguments(run):
    args = {k: v for k, v in hf_run.COMMON.items() if k != "logging_strategy"}
    args.update(run["args"], logging_strategy="no")
    if run["task"] == "grpo":
        args["max_completion_length"] = run["length"] - prompt_of(run)
    else:
        args["max_length"] = run["length"]
    return args


def request_of(run, args):
    request = hf_run.request_of(run, args)
    request["task"] = run["task"]
    rl = {k: v for k, v in run["args"].items() if k in IN_RL and run["task"] != "sft"}
    if run["task"] == "grpo":
        rl["max_completion_length"] = run["length"] - prompt_of(run)
        rl["use_vllm"] = False
    if run["task"] in ("dpo", "kto"):
        rl["max_prompt_length"] = prompt_of(run)
    if rl:
        request["rl"] = rl
    if run["task"] == "sft" and "loss_type" in run["args"]:  # nll of TRL 1.15 on (trl/trainer/utils.py add_fused_lm_head)
        request["training"]["loss_kernel"] = {"nll": "fused_lm_head"}[run["args"]["loss_type"]]
    return request


def run(run, folder):
    kind = TRAINERS[run["task"]]
    args = getattr(trl, f"{kind}Config")(tempfile.mkdtemp(), **arguments(run))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    loader, more = AutoModelForCausalLM, {}
    if run["task"] == "reward":
        loader, more = AutoModelForSequenceClassification, {"num_labels": 1}
    model = loader.from_pretrained(folder, dtype=getattr(torch, run["dtype"]), **more)
    train, evaluation = (Dataset.from_dict(rows(run, count)) for count in hf_run.count_of(run))
    if run["task"] != "grpo" and args.eval_strategy != "no":
        more = {"eval_dataset": evaluation}
    else:
        more = {}
    if run["task"] == "grpo":
        more["reward_funcs"] = lambda completions, **kwargs: [float(i % 2) for i in range(len(completions))]
    if "peft" in run:
        from peft import LoraConfig

        task = "SEQ_CLS" if run["task"] == "reward" else "CAUSAL_LM"
        more["peft_config"] = LoraConfig(task_type=task, **run["peft"])
    getattr(trl, f"{kind}Trainer")(model=model, args=args, train_dataset=train, processing_class=tokenizer, **more).train()
    return request_of(run, args), None
