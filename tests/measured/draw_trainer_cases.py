"""Requests for real_trainer_step.py, drawn by seed from the contract, before anybody prices them.

    python tests/measured/draw_trainer_cases.py SEED COUNT > cases.json
"""

import json
import random
import sys

import transformers
from transformers import AutoConfig
from transformers.models.auto.modeling_auto import MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES as CLASSIFIERS

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
# Models that see: a small text model, a tower of four layers.
TEXT = dict(hidden_size=1024, intermediate_size=2048, num_hidden_layers=4, num_attention_heads=8, num_key_value_heads=4,
            head_dim=128, vocab_size=32000, max_position_embeddings=32768)
QWEN_IDS = dict(image_token_id=4000, vision_start_token_id=4001, video_token_id=4002, vision_end_token_id=4003)
QWEN_TOWER = dict(depth=4, hidden_size=1024, num_heads=16, intermediate_size=3072, temporal_patch_size=2,
                  spatial_merge_size=2, out_hidden_size=1024)
CLIP = dict(model_type="clip_vision_model", hidden_size=1024, intermediate_size=4096, num_hidden_layers=4,
            num_attention_heads=16, image_size=336, patch_size=14, projection_dim=768)
SIGLIP = dict(model_type="siglip_vision_model", hidden_size=1152, intermediate_size=4304, num_hidden_layers=4,
              num_attention_heads=16, patch_size=14)
FAMILIES |= {
    "qwen2_vl": dict(QWEN_IDS, text_config=dict(TEXT, model_type="qwen2_vl_text"),
                     vision_config=dict(depth=4, embed_dim=1024, num_heads=16, mlp_ratio=4, patch_size=14,
                                        temporal_patch_size=2, spatial_merge_size=2, hidden_size=1024)),
    "qwen2_5_vl": dict(QWEN_IDS, text_config=dict(TEXT, model_type="qwen2_5_vl_text"),
                       vision_config=dict(QWEN_TOWER, patch_size=14, window_size=112, fullatt_block_indexes=[3])),
    "qwen3_vl": dict(QWEN_IDS, text_config=dict(TEXT, model_type="qwen3_vl_text"),
                     vision_config=dict(QWEN_TOWER, patch_size=16, num_position_embeddings=2304,
                                        deepstack_visual_indexes=[1, 2])),
    "gemma3": dict(mm_tokens_per_image=256, image_token_index=4000, boi_token_index=4001, eoi_token_index=4002,
                   text_config=dict(TEXT, model_type="gemma3_text", sliding_window=512, vocab_size=65536),
                   vision_config=dict(SIGLIP, image_size=896, vision_use_head=False)),
    "llava": dict(image_token_index=4000, text_config=dict(TEXT, model_type="llama"), vision_config=CLIP),
    "paligemma": dict(image_token_index=4000, projection_dim=1024, text_config=dict(TEXT, model_type="gemma"),
                      vision_config=dict(SIGLIP, image_size=224, vision_use_head=False, projection_dim=1024)),
    "idefics3": dict(image_token_id=4000, scale_factor=4, text_config=dict(TEXT, model_type="llama"),
                     vision_config=dict(SIGLIP, model_type="idefics3_vision", image_size=336)),
    "whisper": dict(decoder_start_token_id=3, d_model=768, encoder_layers=3, decoder_layers=3, encoder_attention_heads=12,
                    decoder_attention_heads=12, encoder_ffn_dim=3072, decoder_ffn_dim=3072, vocab_size=51865),
}
SEE = {"qwen2_vl": 448, "qwen2_5_vl": 448, "qwen3_vl": 448, "gemma3": 896, "llava": 336, "paligemma": 224, "idefics3": 336}
SEQ2SEQ, ENCODERS = ("t5", "bart", "whisper"), ("bert", "roberta")
STACKED = ("gpt_oss", "mixtral", "qwen3_moe", "deepseek_v3", "granitemoe", "olmoe")  # experts are one parameter
# PEFT's own default targets (peft/utils/constants.py) are not there for every family.
WITH_DEFAULTS = ("llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2", "gemma3_text", "gpt2", "gpt_neox", "opt", "bloom",
                 "falcon", "phi", "t5", "bart", "bert", "roberta", "whisper")
EAGER = ("bloom", "gpt_oss", "gemma2")  # no SDPA
HEAD_APART = ("llama", "mistral", "qwen2", "qwen3", "phi3", "olmo2", "starcoder2", "seed_oss", "mixtral", "qwen3_moe")
FUSED = ("phi3",)  # q, k and v are one linear
TUNERS = {
    "full": None, "lora": dict(r=16, target_modules="all-linear", lora_dropout=0.0),
    "lora, dropout": dict(r=8, target_modules="all-linear", lora_dropout=0.05), "lora, default targets": dict(r=8, lora_dropout=0.0),
    "dora, dropout": dict(r=8, target_modules="all-linear", use_dora=True, lora_dropout=0.05),
    "lora, q and v": dict(r=16, target_modules=["q_proj", "v_proj"], lora_dropout=0.1),
    "ia3": dict(peft_type="IA3"), "prefix": dict(peft_type="PREFIX_TUNING", num_virtual_tokens=20),
    "prompt": dict(peft_type="PROMPT_TUNING", num_virtual_tokens=16),
    "lora, head and embedding": dict(r=8, target_modules="all-linear", lora_dropout=0.0,
                                     modules_to_save=["embed_tokens", "lm_head"]),
}
OPTIMIZERS = ("adamw_torch", "adamw_torch", "adamw_torch", "adamw_torch_fused", "adafactor", "sgd", "adagrad",
              "rmsprop")
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
    if family in SEQ2SEQ + ("llama4_text",) or family in SEE:
        return "hf", "sft"
    scored = (("hf", "classification"), ("trl", "reward")) if family in CLASSIFIERS else ()
    return draw.choice((("hf", "sft"), ("hf", "sft"), ("hf", "sft"), ("trl", "sft"), ("trl", "sft"), ("trl", "dpo"),
                        ("trl", "kto"), ("trl", "orpo"), ("trl", "grpo"), ("trl", "rloo")) + scored)


def tuner(draw, family, task, checkpointed):
    prompts = task != "sft" or checkpointed or family in SEQ2SEQ or family in SEE
    unfit = {"prefix": prompts or family == "falcon", "prompt": prompts,
             "lora, q and v": family in FUSED or family not in HEAD_APART + ("bart", "whisper"),
             "lora, head and embedding": family not in HEAD_APART or task in ("classification", "reward"),
             "ia3": family not in WITH_DEFAULTS, "lora, default targets": family not in WITH_DEFAULTS,
             "lora, dropout": family in STACKED, "dora, dropout": family in STACKED}
    if family == "llama4_text":  # its router is a linear that returns two tensors
        return draw.choice(("full", "full", "lora, q and v"))
    return draw.choice(["full", "full", "lora"] + [name for name in TUNERS if not unfit.get(name)])


def lengths(draw, family, stack, task, training):
    """How long a row is, and whether rows are padded or packed."""
    length = draw.choice((256, 384, 512, 640, 1024))
    if family == "whisper":
        length = draw.choice((128, 256, 448))
    if family in SEE:
        length = draw.choice((768, 1024))
    padded = stack == "hf" and family not in SEE and family != "whisper" and draw.random() < 0.3
    training.update(max_length=length, packing=stack == "trl" and task == "sft" and draw.random() < 0.25, padded_batches=padded)


def evaluation(draw, task, training):
    if task in ("grpo", "rloo", "orpo", "kto") or training["packing"] or draw.random() > 0.25:
        return training.update(eval_strategy="no")
    metrics = task == "sft" and draw.random() < 0.4
    training.update(eval_strategy="steps", per_device_eval_batch_size=draw.choice((4, 8)), prediction_loss_only=not metrics,
                    compute_metrics=metrics)


def request_of(draw):
    family = draw.choice(sorted(FAMILIES))
    stack, task = stack_and_task(draw, family)
    dtype, autocast = draw.choice(TYPES)
    checkpointing = draw.choice((None, None, False, True))  # use_reentrant
    name = tuner(draw, family, task, checkpointing is not None)
    training = {"per_device_train_batch_size": draw.choice((2, 3, 4)), "gradient_accumulation_steps": draw.choice((1, 1, 2)),
                "bf16": autocast, "fp16": False, "optim": draw.choice(OPTIMIZERS),
                "gradient_checkpointing": checkpointing is not None}
    lengths(draw, family, stack, task, training)
    evaluation(draw, task, training)
    if checkpointing is not None:
        training["gradient_checkpointing_kwargs"] = {"use_reentrant": checkpointing}
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
    if family in SEE:
        request["vision"] = {"images_per_sample": 1, "image_size": SEE[family], "freeze_vision_tower": False}
    if training.get("compute_metrics"):
        request["data"] = {"eval_samples": 3 * training["per_device_eval_batch_size"]}
    if task in ("grpo", "rloo"):
        training["per_device_train_batch_size"] = size = draw.choice((2, 4))
        length = training["max_length"]
        request["rl"] = {"beta": 0.0, "num_generations": size, "max_completion_length": length - length // 4, "max_prompt_length": length // 4}
    if task in ("dpo", "kto"):  # whose prompts carry no label
        request["rl"] = {"max_prompt_length": draw.choice((8, training["max_length"] // 4, training["max_length"] // 2))}
    checkpointed = {None: "", False: ", checkpointed", True: ", checkpointed reentrant"}[checkpointing]
    more = "".join(f", {word}" for word, said in (("packed", training["packing"]), ("padded", training["padded_batches"]),
                                                  ("evaluated", training["eval_strategy"] != "no")) if said)
    words = (f"{family}, {stack} {task}, {name}, {dtype}{' autocast' if autocast else ''}{checkpointed}, {attention}, "
             f"{training['optim']}{more}")
    return {"name": words, "request": request}


if __name__ == "__main__":
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    draw = random.Random(seed)
    cases = [request_of(draw) for _ in range(count)]
    for number, case in enumerate(cases):
        case["name"] = f"{number + 1}: {case['name']}"
    rows = ",\n".join("    " + json.dumps(case) for case in cases)
    print('{\n  "seed": ' + str(seed) + ',\n  "cases": [\n' + rows + "\n  ]\n}")
