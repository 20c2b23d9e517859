"""What Axolotl resolved, by the pointers of Plimsoll's contract (core/recipe/fields.cpp).

    fields.of(cfg, args, loader, lora, network)     # {"/training/packing": true, "/peft": true, ...}

cfg is load_cfg's, args the trainer's arguments, loader a ModelLoader whose model is there, lora the LoraConfig.
"""

import json
import pathlib
import re

import torch

# The files that `axolotl fetch deepspeed_configs` brings, by what they say of ZeRO; read in July 2026.
STAGE_3 = {"stage": 3, "overlap_comm": True, "contiguous_gradients": True, "sub_group_size": 0,
           "reduce_bucket_size": "auto", "stage3_prefetch_bucket_size": "auto", "max_live_parameters": 0,
           "max_reuse_distance": 0}
ON_CPU = {"device": "cpu", "pin_memory": True}
DEEPSPEED = {
    "zero1": {"stage": 1, "overlap_comm": True},
    "zero1_torch_compile": {"stage": 1, "overlap_comm": True},
    "zero2": {"stage": 2, "offload_optimizer": {"device": "cpu"}, "contiguous_gradients": True, "overlap_comm": True},
    "zero3": STAGE_3,
    "zero3_bf16": STAGE_3,
    "zero3_bf16_cpuoffload_all": {**STAGE_3, "offload_optimizer": ON_CPU, "offload_param": ON_CPU},
    "zero3_bf16_cpuoffload_params": {**STAGE_3, "offload_param": ON_CPU},
}
DEEPSPEED["zero2_torch_compile"] = DEEPSPEED["zero2"]
TOWER = re.compile(r"(^|\.)(vision_tower|vision_model|visual|vision_encoder|embed_vision|audio_tower)\.")


def write_deepspeed_files(folder):
    """Where configurations expect them."""
    below = pathlib.Path(folder, "deepspeed_configs")
    below.mkdir()
    for name, zero in DEEPSPEED.items():
        (below / f"{name}.json").write_text(json.dumps({"zero_optimization": zero, "bf16": {"enabled": "auto"}}))


def zero_of(cfg):
    """The zero_optimization of cfg.deepspeed, which load_cfg has replaced by the file's content."""
    if not cfg.deepspeed or isinstance(cfg.deepspeed, str):
        return {}
    return dict(cfg.deepspeed).get("zero_optimization") or {}


def zero_stage(cfg):
    return zero_of(cfg).get("stage", 0)


def task(cfg):
    if cfg.rl:
        word = str(getattr(cfg.rl, "value", cfg.rl))
        return {"gdpo": "grpo", "ipo": "dpo"}.get(word, word)
    if cfg.reward_model:
        return "reward"
    return "pretrain" if cfg.pretraining_dataset else "sft"


def attention(loader, cfg):
    """The kernel by its Transformers name; hub kernels by the kernel that they hold."""
    word = loader.model_kwargs.get("attn_implementation")
    if not word:
        return "xformers" if cfg.xformers_attention else "sdpa"
    if "/" in word:
        return "flash_attention_3" if "attn3" in word else "flash_attention_2"
    return word


def name_of(dtype):
    return str(dtype).replace("torch.", "")


def in_fp32(model):
    """Which parameters of a 16-bit run are fp32: none, norms, or norms, embeddings and head (all)."""
    kinds = {"norms": set(), "tables": set()}
    for name, parameter in model.named_parameters():
        if "lora_" in name or "modules_to_save" in name or TOWER.search(name):
            continue
        if re.search(r"norm[^.]*\.(base_layer\.)?weight$", name):
            kinds["norms"].add(parameter.dtype)
        elif re.search(r"(embed_tokens|embed_in|word_embeddings|lm_head|embed_out)\.(base_layer\.)?weight$", name):
            kinds["tables"].add(parameter.dtype)
    if kinds["tables"] == {torch.float32}:
        return "all"
    return "norms" if kinds["norms"] == {torch.float32} else "none"


def of_model(cfg, loader):
    quantised = loader.model_kwargs.get("quantization_config") is not None
    found = {"/peft": bool(cfg.adapter), "/model_args/dtype": name_of(cfg.torch_dtype),
             "/model_args/attn_implementation": attention(loader, cfg),
             "/quantization/load_in_4bit": bool(quantised and cfg.load_in_4bit),
             "/quantization/load_in_8bit": bool(quantised and cfg.load_in_8bit),
             "/quantization/quantize_moe_experts": bool(cfg.quantize_moe_experts)}
    if (cfg.context_parallel_size or 1) > 1:
        found["/parallel/sequence_parallel_size"] = cfg.context_parallel_size
    if task(cfg) != "ebft":  # the contract has no word for it
        found["/task"] = task(cfg)
    if cfg.torch_dtype != torch.float32:
        kept = in_fp32(loader.model)
        if zero_stage(cfg) and not cfg.adapter:
            kept = "none"  # DeepSpeed's engine casts the module to the type of the run
        found["/quantization/upcast" if quantised else "/model_args/keep_in_fp32"] = kept
    if quantised and cfg.load_in_4bit:
        bnb = loader.model_kwargs["quantization_config"]
        found["/quantization/bnb_4bit_quant_type"] = bnb.bnb_4bit_quant_type
        found["/quantization/bnb_4bit_use_double_quant"] = bnb.bnb_4bit_use_double_quant
        found["/quantization/bnb_4bit_compute_dtype"] = name_of(bnb.bnb_4bit_compute_dtype)
    tower = [p.requires_grad for name, p in loader.model.named_parameters() if TOWER.search(name)]
    if tower and not cfg.adapter:
        found["/vision/freeze_vision_tower"] = not any(tower)
    return found


def of_adapter(loader, lora):
    # As Axolotl gives it to PEFT, which adds stacked experts to target_parameters later: that shows in "trainable".
    types = {p.dtype for name, p in loader.model.named_parameters() if "lora_" in name}
    return {"/peft/r": lora.r, "/peft/lora_alpha": lora.lora_alpha, "/peft/lora_dropout": lora.lora_dropout,
            "/peft/use_dora": lora.use_dora, "/peft/modules_to_save": sorted(lora.modules_to_save or []),
            "/peft/target_parameters": sorted(lora.target_parameters or []),
            "/peft/adapter_dtype": name_of(next(iter(types)))}


def loss_kernel(cfg, args):
    if cfg.cut_cross_entropy:
        return "cut_cross_entropy"
    if cfg.liger_fused_linear_cross_entropy or getattr(args, "use_liger_kernel", False):
        return "liger"
    return "fused_ce" if cfg.liger_cross_entropy else "stock"


def of_training(cfg, args):
    evaluates = str(getattr(args.eval_strategy, "value", args.eval_strategy))
    offloads = bool(cfg.activation_offloading)
    inside = bool(cfg.fsdp_config and cfg.fsdp_config.activation_checkpointing)
    recomputes = bool(cfg.gradient_checkpointing) or inside
    found = {
        "/training/per_device_train_batch_size": args.per_device_train_batch_size,
        "/training/gradient_accumulation_steps": args.gradient_accumulation_steps,
        "/training/max_length": cfg.sequence_len, "/training/packing": bool(cfg.sample_packing),
        "/training/bf16": bool(args.bf16), "/training/fp16": bool(args.fp16),
        "/training/gradient_checkpointing": recomputes, "/training/activation_offloading": offloads,
        "/training/torch_compile": bool(args.torch_compile),
        "/training/optim": str(getattr(cfg.optimizer, "value", cfg.optimizer)),
        "/training/loss_kernel": loss_kernel(cfg, args),
        "/training/liger_kernel_config/rms_norm": bool(cfg.liger_rms_norm),
        "/training/liger_kernel_config/swiglu": bool(cfg.liger_glu_activation),
        "/training/liger_kernel_config/rope": bool(cfg.liger_rope),
        "/training/fused_lora": any(cfg[key] for key in ("lora_mlp_kernel", "lora_qkv_kernel", "lora_o_kernel")),
        "/training/max_steps": cfg.max_steps or 0, "/training/eval_strategy": evaluates,
        "/training/torch_empty_cache_steps": args.torch_empty_cache_steps or 0,
        "/training/save_total_limit": args.save_total_limit,
    }
    if cfg.unfrozen_parameters and not cfg.adapter:
        found["/training/unfrozen_parameters"] = list(cfg.unfrozen_parameters)
    if cfg.lisa_step_interval and cfg.lisa_n_layers:
        found["/training/lisa_activated_layers"] = cfg.lisa_n_layers
    if recomputes and not offloads:
        found["/training/gradient_checkpointing_kwargs/use_reentrant"] = bool(
            (args.gradient_checkpointing_kwargs or {}).get("use_reentrant", True))
    if evaluates != "no":
        found["/training/per_device_eval_batch_size"] = args.per_device_eval_batch_size
        found["/training/eval_packing"] = bool(cfg.sample_packing and cfg.eval_sample_packing is not False)
    return found


def of_rl(cfg, args):
    names = ["num_generations", "max_completion_length", "temperature", "num_iterations", "use_vllm"]
    if task(cfg) in ("dpo", "kto", "grpo"):
        names.append("beta")  # elsewhere it weighs no reference
    if cfg.rl == "ipo" or cfg.dpo_loss_type or (cfg.trl and cfg.trl.loss_type):
        names.append("loss_type")
    if getattr(args, "use_vllm", False):
        names.append("vllm_mode")
        if args.vllm_mode == "colocate":
            names += ["vllm_gpu_memory_utilization", "vllm_enable_sleep_mode"]
    if task(cfg) == "dpo":
        names.append("precompute_ref_log_probs")
    found = {f"/rl/{name}": getattr(args, name) for name in names if getattr(args, name, None) is not None}
    if isinstance(found.get("/rl/loss_type"), list):
        found["/rl/loss_type"] = found["/rl/loss_type"][0]
    return found


def of_fsdp(cfg, args):
    """As accelerate's plugin reads what TrainingArguments and setup_fsdp_envs give it."""
    second = str(cfg.fsdp_version) == "2"
    found = {"/parallel/strategy": "fsdp2" if second else "fsdp",
             "/parallel/fsdp_config/offload_params": bool(cfg.fsdp_config and cfg.fsdp_config.offload_params)}
    plugin = getattr(args, "fsdp_plugin_args", None)
    if not plugin:
        return found
    reshards = plugin.get("reshard_after_forward")
    if isinstance(reshards, str):  # the first FSDP takes a strategy's name, and fails on true and false
        reshards = {"full_shard": True, "shard_grad_op": False}.get(reshards.lower())
    if reshards is not None:
        found["/parallel/fsdp_config/reshard_after_forward"] = reshards
    found["/parallel/fsdp_config/activation_checkpointing"] = bool(plugin.get("activation_checkpointing"))
    if not second:
        found["/parallel/fsdp_config/use_orig_params"] = plugin["use_orig_params"]
        word = plugin["backward_prefetch"].lower()
        found["/parallel/fsdp_config/backward_prefetch"] = {"no_prefetch": "none"}.get(word, word)
        found["/parallel/fsdp_config/forward_prefetch"] = plugin["forward_prefetch"]
    return found


def of_deepspeed(zero):
    """deepspeed/runtime/zero/config.py: a field of stage 3 is also read by its own name."""
    below = "/parallel/zero_optimization"
    found = {"/parallel/strategy": f"zero{zero['stage']}", f"{below}/overlap_comm": zero["overlap_comm"]}
    for part in ("offload_optimizer", "offload_param"):
        found[f"{below}/{part}/device"] = (zero.get(part) or {}).get("device", "none")
    if zero["stage"] == 3:
        found[f"{below}/stage3_max_live_parameters"] = zero["max_live_parameters"]
        found[f"{below}/stage3_max_reuse_distance"] = zero["max_reuse_distance"]
        found[f"{below}/sub_group_size"] = zero["sub_group_size"]
    return found


def of(cfg, args, loader, lora, network):
    """All fields of one configuration."""
    found = {**of_model(cfg, loader), **of_training(cfg, args)}
    if lora is not None:
        found.update(of_adapter(loader, lora))
    if cfg.rl:
        found.update(of_rl(cfg, args))
    if cfg.fsdp_config or cfg.fsdp:
        found.update(of_fsdp(cfg, args))
    elif zero_of(cfg):
        found.update(of_deepspeed(zero_of(cfg)))
    return {pointer: found[pointer] for pointer in sorted(found)}
