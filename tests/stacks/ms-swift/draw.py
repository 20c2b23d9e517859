"""Commands of our own in the manner of ms-swift's documentation, drawn over its keys, for resolve.py.

    python tests/stacks/ms-swift/draw.py COUNT OUT_FOLDER SEED [--train-type]

--train-type writes the name that tuner_type had until 4.0.
"""

import pathlib
import random
import sys

TEXT = ["Qwen/Qwen2.5-7B", "Qwen/Qwen3-8B", "meta-llama/Llama-3.1-8B", "mistralai/Mistral-7B-v0.3",
        "google/gemma-2-9b", "Qwen/Qwen2.5-0.5B", "Qwen/Qwen1.5-7B", "google/gemma-7b"]
IMAGES = ["Qwen/Qwen2-VL-7B-Instruct", "Qwen/Qwen2.5-VL-3B-Instruct"]
EXPERTS = ["Qwen/Qwen3-30B-A3B"]
DATA = "AI-ModelScope/alpaca-gpt4-data-en#500"


def sometimes(dice, share, words):
    return words if dice.random() < share else []


def common(dice, images):
    """Options that every kind of training has."""
    words = []
    words += sometimes(dice, 0.6, ["--max_length", dice.choice(["1024", "2048", "8192"])])
    words += sometimes(dice, 0.5, ["--per_device_train_batch_size", dice.choice(["1", "2", "4"])])
    words += sometimes(dice, 0.3, ["--per_device_eval_batch_size", dice.choice(["1", "2"])])
    words += sometimes(dice, 0.5, ["--gradient_accumulation_steps", dice.choice(["1", "8", "16"])])
    words += sometimes(dice, 0.6, ["--torch_dtype", dice.choice(["bfloat16", "bfloat16", "float16", "float32"])])
    words += sometimes(dice, 0.2, ["--gradient_checkpointing", dice.choice(["true", "false"])])
    words += sometimes(dice, 0.15, ["--gradient_checkpointing_kwargs", '\'{"use_reentrant": false}\''])
    words += sometimes(dice, 0.2, ["--use_liger_kernel", "true"])
    words += sometimes(dice, 0.3, ["--split_dataset_ratio", dice.choice(["0", "0.01"])])
    words += sometimes(dice, 0.3, ["--eval_steps", "100", "--save_steps", "100"])
    words += sometimes(dice, 0.15, ["--save_strategy", dice.choice(["epoch", "no"])])
    words += sometimes(dice, 0.15, ["--eval_strategy", dice.choice(["no", "epoch", "steps"])])
    words += sometimes(dice, 0.25, ["--optim", dice.choice(["adamw_torch", "paged_adamw_8bit", "adafactor"])])
    words += sometimes(dice, 0.2, ["--truncation_strategy", dice.choice(["delete", "left"])])
    words += sometimes(dice, 0.2, ["--attn_impl", dice.choice(["sdpa", "flash_attn", "eager", "flash_attention_2"])])
    if images:
        words += sometimes(dice, 0.4, ["--freeze_vit", dice.choice(["true", "false"])])
        words += sometimes(dice, 0.3, ["--freeze_aligner", dice.choice(["true", "false"])])
        words += sometimes(dice, 0.2, ["--freeze_llm", "false"])
    return words


def tuner(dice, key):
    """Full training, LoRA or QLoRA."""
    if dice.random() < 0.25:
        return [f"--{key}", "full"]
    words = sometimes(dice, 0.6, [f"--{key}", "lora"])
    words += sometimes(dice, 0.6, ["--lora_rank", dice.choice(["8", "16", "64"])])
    words += sometimes(dice, 0.6, ["--lora_alpha", "32"])
    words += sometimes(dice, 0.2, ["--lora_dropout", dice.choice(["0", "0.1"])])
    words += sometimes(dice, 0.5, ["--target_modules"] + dice.choice(
        [["all-linear"], ["q_proj", "v_proj"], ["q_proj", "k_proj", "v_proj", "o_proj"]]))
    words += sometimes(dice, 0.1, ["--use_dora", "true"])
    words += sometimes(dice, 0.15, ["--lora_dtype", dice.choice(["float32", "bfloat16"])])
    words += sometimes(dice, 0.1, ["--modules_to_save", "embed_tokens", "lm_head"])
    words += sometimes(dice, 0.25, ["--quant_method", "bnb", "--quant_bits", dice.choice(["4", "4", "8"])])
    return words


def preference(dice):
    """Options of swift rlhf."""
    kind = dice.choice(["dpo", "dpo", "grpo", "grpo", "kto", "orpo", "simpo", "cpo", "rm"])
    words = ["--rlhf_type", kind]
    if kind in ("dpo", "kto"):
        words += sometimes(dice, 0.3, ["--beta", "0.2"])
    if kind == "grpo":
        words += ["--reward_funcs", "accuracy"]
        count = dice.choice(["4", "8", "16"])  # completions of a step are whole groups
        words += [] if count == "8" else ["--num_generations", count]
        words += ["--per_device_train_batch_size", count]
        words += sometimes(dice, 0.5, ["--max_completion_length", dice.choice(["1024", "4096"])])
        words += sometimes(dice, 0.3, ["--beta", dice.choice(["0", "0.001"])])
        words += sometimes(dice, 0.3, ["--temperature", "1.0"])
        words += sometimes(dice, 0.2, ["--num_iterations", "2"])
        if dice.random() < 0.5:
            words += ["--use_vllm", "true", "--vllm_mode", "colocate"]
            words += sometimes(dice, 0.6, ["--vllm_gpu_memory_utilization", "0.5"])
            words += sometimes(dice, 0.4, ["--sleep_level", "1"])
    return words


def draw(dice, key):
    """One command."""
    kind = dice.choice(["sft", "sft", "sft", "pt", "rlhf", "rlhf"])
    images = kind != "pt" and dice.random() < 0.2
    model = dice.choice(IMAGES if images else EXPERTS if dice.random() < 0.1 else TEXT)
    world = dice.choice([1, 1, 1, 2, 8])
    words = preference(dice) if kind == "rlhf" else []
    rest = tuner(dice, key) + common(dice, images)
    if "grpo" in words and "--per_device_train_batch_size" in rest:
        at = rest.index("--per_device_train_batch_size")
        del rest[at:at + 2]
    words += rest
    if kind != "rlhf" and not images and dice.random() < 0.25:
        if "--attn_impl" in words:
            del words[words.index("--attn_impl"):words.index("--attn_impl") + 2]
        words += ["--attn_impl", "flash_attn", dice.choice(["--packing", "--padding_free"]), "true"]
    deepspeed = world > 1 and dice.random() < 0.6 and "--quant_bits" not in words
    if deepspeed:
        words += ["--deepspeed", dice.choice(["zero2", "zero3", "zero2_offload", "zero3_offload", "zero1"])]
    lines = [f"swift {kind}", f"--model {model}", f"--dataset '{DATA}'"]
    while words:
        line = [words.pop(0)]
        while words and not words[0].startswith("--"):
            line.append(words.pop(0))
        lines.append(" ".join(line))
    return (f"NPROC_PER_NODE={world} " if world > 1 else "") + " \\\n    ".join(lines) + "\n"


def main():
    count, out, seed = int(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    dice = random.Random(seed)
    out.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        text = draw(dice, "train_type" if "--train-type" in sys.argv else "tuner_type")
        (out / f"drawn_{number:02}.sh").write_text(text)


if __name__ == "__main__":
    main()
