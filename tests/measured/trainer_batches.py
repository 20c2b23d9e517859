"""What real_trainer_step.py hands the trainers: tokens, images, sound, preferences and completions of a request."""

import math
import random

import torch
import transformers

LONGEST_AT = 4  # the batch of a run that holds a row as long as the cap, where lengths differ


def tokenizer():
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = {"<pad>": 0, "<s>": 1, "</s>": 2, "<unk>": 3, **{f"w{i}": i for i in range(4, 64)}}
    made = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, pad_token="<pad>", bos_token="<s>", eos_token="</s>",
                                                unk_token="<unk>")


def words(count, first=0):
    return " ".join(f"w{4 + (i + first) % 50}" for i in range(count))


def batch_of(request, size, number=0):
    """One batch of Trainer or Seq2SeqTrainer, as its collator would hand it over. Where the request says how long its samples
    are, the batches of a run differ."""
    if "vision" in request:
        return image_batch(request, size)
    return sound_batch(request, size) if request["model"]["config"]["model_type"] == "whisper" else text_batch(request, size, number)


def sound_batch(request, size):
    """Thirty seconds of sound a row, whatever was said in them (WhisperFeatureExtractor); without autocast its first
    convolution wants them in its own type."""
    dtype = torch.float32 if request["training"]["bf16"] else getattr(torch, request["model_args"]["dtype"])
    return {"input_features": torch.zeros(size, 80, 3000, dtype=dtype),
            "labels": torch.randint(4, 50, (size, request["training"]["max_length"]))}


def image_batch(request, size):
    """Pixels in fp32 and the image's place among the tokens, one square image a row, as the processors lay them out. An image of
    zeros would be padding to Idefics."""
    config = request["model"]["config"]
    kind, vision, side = config["model_type"], config["vision_config"], request["vision"]["image_size"]
    ids = torch.full((size, request["training"]["max_length"]), 10)
    patch = vision["patch_size"]
    across, pixels, more = side // patch, torch.ones(size, 3, side, side), {}
    if kind.startswith("qwen"):
        merge = vision["spatial_merge_size"]
        count = (across // merge) ** 2
        pixels = torch.ones(size * across**2, 3 * vision["temporal_patch_size"] * patch**2)
        more["image_grid_thw"] = torch.tensor([[1, across, across]] * size)
        ids[:, 4] = config["vision_start_token_id"]
    elif kind == "gemma3":
        count = config["mm_tokens_per_image"]
    elif kind == "idefics3":
        count, pixels = (across // config["scale_factor"]) ** 2, pixels[:, None]
    else:
        count = across**2
    ids[:, 5 : 5 + count] = config.get("image_token_id", config.get("image_token_index"))
    types = (ids == ids[:, 5:6]).long()
    if kind in ("gemma3", "paligemma"):
        more["token_type_ids"] = types if kind == "gemma3" else torch.zeros_like(ids)
    elif kind.startswith("qwen"):
        more["mm_token_type_ids"] = types
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": ids.clone(), "pixel_values": pixels, **more}


def lengths_of(request, size, number):
    """Of the rows of a batch: half as long as the median to twice that, and one row of the run reaches the cap."""
    data, cap = request.get("data", {}), request["training"]["max_length"]
    if "p50_length" not in data:
        return None
    draw = random.Random(number)
    spread = math.log(data["p95_length"] / data["p50_length"]) / 1.645
    drawn = [min(cap, max(16, round(data["p50_length"] * math.exp(draw.gauss(0, spread))))) for _ in range(size)]
    return [cap, *drawn[1:]] if number == LONGEST_AT else drawn


def text_batch(request, size, number):
    rows = lengths_of(request, size, number)
    length = max(rows) if rows else request["training"]["max_length"]
    ids = torch.randint(4, 50, (size, length))
    mask = torch.ones(size, length, dtype=torch.long)
    if request["training"]["padded_batches"]:
        mask[1:, length - length // 4 :] = 0
    for row, filled in zip(mask, rows or []):
        row[filled:] = 0
    batch = {"input_ids": ids, "attention_mask": mask, "labels": ids.masked_fill(mask == 0, -100)}
    if request.get("task") == "classification":
        batch["labels"] = torch.zeros(size, dtype=torch.long)
    return batch


def preference_rows(request, count):
    """Rows as long as the request says, and their prompts, of which TRL scores no token. The tokenizer adds an end where the
    trainer asks for one."""
    task, length = request["task"], request["training"]["max_length"]
    prompt = request.get("rl", {}).get("max_prompt_length", 8)
    answer = length - prompt
    if task == "dpo":
        return {"prompt": [words(prompt)] * count, "chosen": [" " + words(answer - 1, 3)] * count,
                "rejected": [" " + words(answer - 1, 7)] * count}
    if task == "orpo":
        return {"prompt": [words(prompt)] * count, "chosen": [" " + words(answer, 3)] * count,
                "rejected": [" " + words(answer, 7)] * count}
    if task == "kto":
        return {"prompt": [words(prompt)] * count, "label": [i % 2 == 0 for i in range(count)],
                "completion": [" " + words(answer - 1, i) for i in range(count)]}
    if task == "reward":
        return {"chosen": [words(length - 1, 3)] * count, "rejected": [words(length - 1, 7)] * count}
    if task in ("grpo", "rloo"):
        return {"prompt": [words(prompt)] * count}
    packed = request["training"]["packing"]
    return {"input_ids": [[5] * (length // 4)] * 8 * count if packed else [[5] * length] * count}


def given_completions(trainer, size, length, count):
    prompt = length // 4
    rest = length - prompt
    batch = {"prompt_ids": torch.full((size, prompt), 5), "prompt_mask": torch.ones(size, prompt, dtype=torch.long),
             "completion_ids": torch.full((size, rest), 6), "completion_mask": torch.ones(size, rest, dtype=torch.long),
             "old_logps": torch.zeros(size), "advantages": torch.linspace(-1, 1, size), "num_items_in_batch": torch.tensor(size * rest)}
    trainer._prepare_inputs = lambda inputs: dict(inputs)  # what it would generate is here
    return [dict(batch) for _ in range(count)]
