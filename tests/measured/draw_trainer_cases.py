"""Requests for real_trainer_step.py, drawn by seed from the contract, before anybody prices them.

    python tests/measured/draw_trainer_cases.py SEED COUNT > cases.json
"""

import json
import random
import sys

import transformers
from transformers import AutoConfig

VERSIONS = {"torch": "2.13.0", "transformers": transformers.__version__, "peft": "0.21.2", "trl": "1.16.0"}
HEADS = dict(num_attention_heads=16, num_key_value_heads=4, num_hidden_layers=4, max_position_embeddings=4096)
DENSE = dict(HEADS, hidden_size=1024, intermediate_size=4096, vocab_size=32000)
OWN = dict(DENSE, head_dim=128)  # heads wider than hidden_size says
EXPERTS = dict(DENSE, intermediate_size=2048, num_experts_per_tok=2)

# What AutoConfig takes, small, with the shares of the published models.
FAMILIES = {
    "llama": DENSE, "mistral": dict(DENSE, sliding_window=512), "qwen2": DENSE, "qwen3": OWN, "phi3": DENSE,
    "phi": dict(DENSE, num_key_value_heads=16), "gemma": dict(OWN, head_dim=256, num_key_value_heads=1, num_attention_heads=8),
    "gemma2": dict(OWN, sliding_window=512), "gemma3_text": dict(OWN, sliding_window=256, vocab_size=65536),
    "olmo2": DENSE, "cohere": DENSE, "granite": DENSE, "nemotron": dict(DENSE, head_dim=64), "stablelm": DENSE,
    "smollm3": DENSE, "seed_oss": dict(OWN, residual_dropout=0.1), "starcoder2": DENSE, "glm4": dict(OWN, head_dim=64),
    "ernie4_5": dict(DENSE, head_dim=64), "exaone4": dict(DENSE, sliding_window=256, layer_types=None),
    "gpt2": dict(n_embd=1024, n_head=16, n_layer=4, vocab_size=32000, n_positions=2048),
    "gpt_neox": dict(DENSE, rotary_pct=0.25), "opt": dict(DENSE, ffn_dim=4096, word_embed_proj_dim=1024),
    "bloom": dict(hidden_size=1024, n_head=16, n_layer=4, vocab_size=32000),
    "falcon": dict(DENSE, multi_query=True, parallel_attn=True, bias=False, num_key_value_heads=None),
    "gpt_oss": dict(OWN, head_dim=64, intermediate_size=1024, num_local_experts=8, num_experts_per_tok=2, sliding_window=128),
    "mixtral": dict(EXPERTS, num_local_experts=8), "qwen3_moe": dict(EXPERTS, head_dim=64, num_experts=16,
                                                                     moe_intermediate_size=512),
    "deepseek_v3": dict(EXPERTS, num_key_value_heads=16, q_lora_rank=384, kv_lora_rank=256, qk_nope_head_dim=64,
                        qk_rope_head_dim=32, v_head_dim=64, n_routed_experts=16, n_group=4, topk_group=2,
                        moe_intermediate_size=512, first_k_dense_replace=1),
    "llama4_text": dict(EXPERTS, head_dim=64, num_local_experts=4, num_experts_per_tok=1, intermediate_size_mlp=4096,
                        layer_types=None),
    "granitemoe": dict(EXPERTS, num_local_experts=8), "olmoe": dict(EXPERTS, num_experts=16, intermediate_size=512),
    "t5": dict(decoder_start_token_id=0, d_model=768, d_kv=64, d_ff=2048, num_layers=4, num_heads=12, vocab_size=32128),
    "bart": dict(decoder_start_token_id=2, d_model=768, encoder_layers=3, decoder_layers=3, encoder_ffn_dim=3072, decoder_ffn_dim=3072,
                 encoder_attention_heads=12, decoder_attention_heads=12, vocab_size=50265),
    "bert": dict(hidden_size=768, num_hidden_layers=6, num_attention_heads=12, intermediate_size=3072, vocab_size=30522,
                 max_position_embeddings=2048),
    "roberta": dict(hidden_size=768, num_hidden_layers=6, num_attention_heads=12, intermediate_size=3072, vocab_size=50265,
                    max_position_embeddings=2050),
}
SEQ2SEQ, ENCODERS = ("t5", "bart"), ("bert", "roberta")
# PEFT's own default targets (peft/utils/constants.py) are not there for every family.
WITH_DEFAULTS = ("llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2", "gemma3_text", "gpt2", "gpt_neox", "opt", "bloom",
                 "falcon", "phi", "mixtral", "t5", "bart", "bert", "roberta")
EAGER = ("bloom", "gpt_oss", "gemma2")  # no SDPA
HEAD_APART = ("llama", "mistral", "qwen2", "qwen3", "phi3", "olmo2", "starcoder2", "seed_oss", "mixtral", "qwen3_moe")
TUNERS = {
    "full": None, "lora": dict(r=16, target_modules="all-linear", lora_dropout=0.0),
    "lora, dropout": dict(r=8, target_modules="all-linear", lora_dropout=0.05), "lora, default targets": dict(r=8, lora_dropout=0.0),
    "dora, dropout": dict(r=8, target_modules="all-linear", use_dora=True, lora_dropout=0.05),
    "ia3": dict(peft_type="IA3"), "prefix": dict(peft_type="PREFIX_TUNING", num_virtual_tokens=20),
    "lora, head and embedding": dict(r=8, target_modules="all-linear", lora_dropout=0.0,
                                     modules_to_save=["embed_tokens", "lm_head"]),
}
OPTIMIZERS = ("adamw_torch", "adamw_torch", "adamw_torch", "adamw_torch_fused", "adafactor", "sgd", "adagrad")
TYPES = (("bfloat16", False), ("bfloat16", True), ("bfloat16", True), ("float32", True))  # of the weights, and autocast


def saved_config(family, dtype, extra):
    fields = dict(FAMILIES[family], bos_token_id=1, eos_token_id=2, pad_token_id=0, **extra)
    config = AutoConfig.for_model(family, **{key: value for key, value in fields.items() if value is not None})
    config.dtype = dtype
    saved = json.loads(config.to_json_string(use_diff=True))
    saved.pop("use_cache", None)
    return saved


def stack_and_task(draw, family):
    if family in ENCODERS:
        return "hf", "classification"
    if family in SEQ2SEQ + ("llama4_text",):
        return "hf", "sft"
    return draw.choice((("hf", "sft"), ("hf", "sft"), ("hf", "sft"), ("hf", "classification"), ("trl", "sft"), ("trl", "sft"),
                        ("trl", "dpo"), ("trl", "kto"), ("trl", "orpo"), ("trl", "reward"), ("trl", "grpo")))


def tuner(draw, family, task, checkpointed):
    unfit = {"prefix": task != "sft" or checkpointed or family in SEQ2SEQ,
             "lora, head and embedding": family not in HEAD_APART or task in ("classification", "reward"),
             "ia3": family not in WITH_DEFAULTS, "lora, default targets": family not in WITH_DEFAULTS}
    return draw.choice(["full", "full", "lora"] + [name for name in TUNERS if not unfit.get(name)])


def request_of(draw):
    family = draw.choice(sorted(FAMILIES))
    stack, task = stack_and_task(draw, family)
    dtype, autocast = draw.choice(TYPES)
    checkpointing = draw.choice((None, None, False, True))  # use_reentrant
    name = tuner(draw, family, task, checkpointing is not None)
    length = draw.choice((256, 384, 512, 640, 1024))
    training = {
        "per_device_train_batch_size": draw.choice((2, 3, 4)), "gradient_accumulation_steps": draw.choice((1, 1, 2)),
        "max_length": length, "packing": False, "bf16": autocast, "fp16": False,
        "padded_batches": stack == "hf" and draw.random() < 0.3, "optim": draw.choice(OPTIMIZERS), "eval_strategy": "no",
        "gradient_checkpointing": checkpointing is not None,
    }
    if checkpointing is not None:
        training["gradient_checkpointing_kwargs"] = {"use_reentrant": checkpointing}
    if stack == "hf" and task == "sft" and draw.random() < 0.25:
        training.update(eval_strategy="steps", per_device_eval_batch_size=draw.choice((4, 8)), prediction_loss_only=True)
    attention = "eager" if family in EAGER else draw.choice(("sdpa", "sdpa", "sdpa", "eager"))
    extra = {"num_labels": 1 if task == "reward" else 2} if task in ("reward", "classification") else {}
    request = {
        "schema": 1, "stack": stack, "task": task, "versions": VERSIONS, "hardware": {"gpu": "a100-sxm-80"},
        "model": {"name": family, "config": saved_config(family, dtype, {})},
        "model_args": {"dtype": dtype, "attn_implementation": attention, **extra},
        "training": training,
    }
    if TUNERS[name] is not None:
        request["peft"] = TUNERS[name]
    if task == "grpo":
        size = draw.choice((2, 4))
        training["per_device_train_batch_size"] = size
        request["rl"] = {"num_generations": size, "max_completion_length": length - length // 4, "max_prompt_length": length // 4}
    checkpointed = {None: "", False: ", checkpointed", True: ", checkpointed reentrant"}[checkpointing]
    words = (f"{family}, {stack} {task}, {name}, {dtype}{' autocast' if autocast else ''}{checkpointed}, "
             f"{request['model_args']['attn_implementation']}, {training['optim']}")
    return {"name": words, "request": request}


if __name__ == "__main__":
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    draw = random.Random(seed)
    cases = [request_of(draw) for _ in range(count)]
    for number, case in enumerate(cases):
        case["name"] = f"{number + 1}: {case['name']}"
    rows = ",\n".join("    " + json.dumps(case) for case in cases)
    print('{\n  "seed": ' + str(seed) + ',\n  "cases": [\n' + rows + "\n  ]\n}")
