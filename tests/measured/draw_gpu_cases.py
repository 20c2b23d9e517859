"""Requests for gpu_runs.py, drawn by seed before anybody prices them: what people fine-tune on one card, at full size.

    python tests/measured/draw_gpu_cases.py SEED COUNT > cases.json
"""

import json
import random
import sys

VERSIONS = {"torch": "2.11.0", "transformers": "5.23.0", "peft": "0.21.2", "trl": "1.16.0"}
# Billions of parameters, and whether Liger has kernels for the family.
MODELS = {
    "qwen2.5-0.5b": (0.5, True), "llama-3.2-1b": (1.2, True), "qwen2.5-1.5b": (1.5, True), "gemma-3-1b-pt": (1.0, True),
    "smollm2-1.7b": (1.7, True), "qwen3-0.6b": (0.6, True), "llama-3.2-3b": (3.2, True), "qwen3-4b": (4.0, True),
    "phi-4-mini-instruct": (3.8, True), "qwen2.5-7b": (7.6, True), "mistral-7b-v0.3": (7.2, True),
    "llama-3.1-8b": (8.0, True), "qwen3-8b": (8.2, True), "olmo-2-0425-1b": (1.5, False),
}
SEE = {"qwen2.5-vl-3b-instruct": 3.8, "gemma-3-4b-pt": 4.3, "qwen3-vl-2b-instruct": 2.1, "smolvlm-500m-instruct": 0.5}
SIDES = {"qwen2.5-vl-3b-instruct": (448, 896), "gemma-3-4b-pt": (896,), "qwen3-vl-2b-instruct": (512, 1024),
         "smolvlm-500m-instruct": (512,)}
OPTIMIZERS = ("adamw_torch", "adamw_torch_fused", "adamw_torch_fused", "adamw_8bit", "paged_adamw_8bit", "paged_adamw_32bit",
              "adafactor", "sgd")


def tuner_of(draw, size, task):
    if size > 5:
        return draw.choice(("lora", "lora", "qlora", "qlora", "dora", "int8", "full"))
    if size > 2:
        return draw.choice(("lora", "lora", "qlora", "qlora", "dora", "int8", "full", "full"))
    return draw.choice(("full", "full", "full", "lora", "lora", "qlora", "dora"))


def shape_of(draw, size, checkpointed):
    most = (32768 if size < 2 else 16384) if checkpointed else (8192 if size < 2 else 4096)
    shapes = [(batch, length) for batch in (1, 2, 4, 8) for length in (512, 1024, 2048, 4096, 8192)
              if most // 8 <= batch * length <= most]
    return draw.choice(shapes)


def adapted(draw, request, tuner):
    fields = {"r": draw.choice((8, 16, 64)), "lora_alpha": 16, "target_modules": "all-linear",
              "lora_dropout": draw.choice((0.0, 0.0, 0.05))}
    if tuner == "lora" and draw.random() < 0.3 and "vision" not in request:
        fields["target_modules"] = ["q_proj", "k_proj", "v_proj", "o_proj"]
    if tuner == "dora":
        fields["use_dora"] = True
    if tuner != "full":
        request["peft"] = fields
    if tuner == "qlora":
        request["quantization"] = {"load_in_4bit": True, "bnb_4bit_quant_type": "nf4", "bnb_4bit_compute_dtype": "bfloat16",
                                   "bnb_4bit_use_double_quant": draw.random() < 0.5}
    if tuner == "int8":
        request["quantization"] = {"load_in_8bit": True}


def task_of(draw, request, task):
    training = request["training"]
    if task == "grpo":  # completions are written a token at a time
        size = draw.choice((4, 8))
        training.update(per_device_train_batch_size=size, max_length=256)
        request["rl"] = {"beta": draw.choice((0.0, 0.04)), "num_generations": size, "max_completion_length": 192,
                         "max_prompt_length": 64}
    if task == "dpo":
        training["per_device_train_batch_size"] = max(1, training["per_device_train_batch_size"] // 2)
        request["rl"] = {"max_prompt_length": 8}


def data_of(draw, request, task):
    training = request["training"]
    plain = request["stack"] == "hf" and task == "sft" and "vision" not in request
    if plain and draw.random() < 0.4:
        cap = training["max_length"]
        request["data"] = {"p50_length": cap // 3, "p95_length": cap * 3 // 4, "longest_length": cap}
        training["padded_batches"] = True
    if task == "sft" and draw.random() < 0.2:
        training.update(eval_strategy="steps", per_device_eval_batch_size=draw.choice((4, 8)), prediction_loss_only=True)


def case_of(draw):
    task = draw.choice(("sft",) * 8 + ("sft, image",) * 2 + ("dpo",) * 2 + ("grpo",))
    sees = task == "sft, image"
    name = draw.choice(sorted(SEE) if sees else sorted(MODELS))
    size, kernels = (SEE[name], name.startswith("qwen2.5")) if sees else MODELS[name]
    task = "sft" if sees else task
    checkpointed = draw.random() < (0.75 if size > 2 else 0.5)
    tuner = tuner_of(draw, size, task)
    batch, length = shape_of(draw, size, checkpointed)
    single = tuner == "full" and size < 2 and draw.random() < 0.5
    training = {"per_device_train_batch_size": batch, "max_length": length, "gradient_accumulation_steps": draw.choice((1, 1, 2)),
                "bf16": single or draw.random() < 0.8, "fp16": False, "packing": False, "padded_batches": False,
                "optim": draw.choice(OPTIMIZERS), "eval_strategy": "no", "gradient_checkpointing": checkpointed}
    if checkpointed:
        training["gradient_checkpointing_kwargs"] = {"use_reentrant": False}
    if kernels and draw.random() < 0.3:
        training["use_liger_kernel"] = True
    request = {"schema": 1, "stack": "trl" if task != "sft" or not sees and draw.random() < 0.5 else "hf", "task": task,
               "versions": VERSIONS, "model": name,
               "model_args": {"dtype": "float32" if single else "bfloat16", "attn_implementation": "sdpa"},
               "training": training, "hardware": {"gpu": "h100-sxm"}}
    if sees:
        request["vision"] = {"images_per_sample": 1, "image_size": draw.choice(SIDES[name]), "freeze_vision_tower": False}
        training["max_length"] = max(length, 2048)
        training["per_device_train_batch_size"] = min(batch, 4)
    adapted(draw, request, tuner)
    task_of(draw, request, task)
    data_of(draw, request, task)
    if draw.random() < 0.25:
        request["hardware"]["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"
    return {"name": f"{name}, {request['stack']} {task}, {tuner}", "request": request, "steps": 3 if task == "grpo" else 6,
            "bisect": draw.random() < 0.2 and size < 5 and task != "grpo"}


if __name__ == "__main__":
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    draw = random.Random(seed)
    cases = [case_of(draw) for _ in range(count)]
    for number, case in enumerate(cases):
        case["name"] = f"{number + 1}: {case['name']}"
    print('{\n  "seed": ' + str(seed) + ',\n  "cases": [\n' + ",\n".join("    " + json.dumps(case) for case in cases) + "\n  ]\n}")
