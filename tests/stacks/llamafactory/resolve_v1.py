"""The second generation, llamafactory.v1: its argument classes and its model engine on meta (see resolve.py)."""
import types

import machine
import torch


class Processor:
    """What a renderer asks of a tokenizer when it is made."""
    model_input_names = ["input_ids", "attention_mask"]


def load(arguments, dist_config):
    """The model as the trainer is given it; its engine asks for the device alone."""
    from llamafactory.v1.core import model_engine

    interface = types.SimpleNamespace(dist_config=dist_config, current_device=torch.device("cuda", 0))
    model_engine.DistributedInterface = lambda *args: interface
    model_engine.AutoProcessor = types.SimpleNamespace(from_pretrained=lambda *args, **kwargs: Processor())
    model_engine.Renderer = lambda *args: None
    return model_engine.ModelEngine(arguments, is_train=True).model


def peft_fields(model):
    if not hasattr(model, "peft_config"):
        return {"/peft": False}
    config = model.peft_config["default"]
    trained = next(p for n, p in model.named_parameters() if p.requires_grad and "lora_" in n)
    return {"/peft": True, "/peft/r": config.r, "/peft/lora_dropout": config.lora_dropout,
            "/peft/use_dora": config.use_dora, "/peft/use_rslora": config.use_rslora,
            "/peft/modules_to_save": sorted(config.modules_to_save or []),
            "/peft/adapter_dtype": machine.word_of(trained.dtype)}


def parallel_fields(training_args, deepspeed):
    dist = training_args.dist_config
    name = None if dist is None else dist.name
    fields = {"/training/bf16": name == "deepspeed" or (name == "fsdp2" and training_args.bf16)}
    if name == "fsdp2":  # FSDP2Engine.get_mp_policy
        fields.update({"/parallel/strategy": "fsdp2", "/parallel/fsdp_config/reduce_dtype": "float32",
                       "/parallel/fsdp_config/offload_params": dist.get("offload_params", False),
                       "/parallel/fsdp_config/reshard_after_forward": dist.get("reshard_after_forward", True)})
    if name == "deepspeed":
        fields.update(deepspeed(dist["config_file"]))
    return fields


def resolve(config, deepspeed):
    from llamafactory.v1.config import get_args
    from llamafactory.v1.plugins.model_plugins import deepspeed_utils

    deepspeed_utils.setup_deepspeed_zero3_model_loading = lambda *args: None  # needs DeepSpeed and a GPU
    model_args, _, training_args, _ = get_args(dict(config))
    model = load(model_args, training_args.dist_config)
    micro, batch = training_args.micro_batch_size, training_args.global_batch_size
    named = [(n, p) for n, p in model.named_parameters() if p.ndim > 1 and "lora_" not in n and "modules_to_save" not in n]
    fields = {"/task": "sft", "/training/per_device_train_batch_size": micro,
              "/training/gradient_accumulation_steps": 1 if batch is None else batch // micro,
              "/training/max_length": training_args.cutoff_len, "/training/max_steps": training_args.max_steps or 0,
              "/training/gradient_checkpointing": training_args.enable_activation_checkpointing,
              "/training/eval_strategy": "no", "/training/optim": "adamw_torch", "/training/packing": False,
              "/model_args/attn_implementation": str(getattr(model_args.flash_attn, "value", model_args.flash_attn)),
              "/model_args/dtype": machine.word_of(named[0][1].dtype), **peft_fields(model)}
    if training_args.enable_activation_checkpointing:  # BaseTrainer.__init__
        fields["/training/gradient_checkpointing_kwargs/use_reentrant"] = False
    fields.update(parallel_fields(training_args, deepspeed))
    if fields.get("/parallel/strategy") == "zero3":
        fields["/model_args/dtype"] = "bfloat16"  # zero.Init under the plugin's mixed precision
    peft = model_args.peft_config
    if peft is not None and peft.name == "freeze":
        fields["/training/freeze_trainable_layers"] = peft.get("freeze_trainable_layers", 2)
        fields["/training/upcast_trainable"] = peft.get("cast_trainable_params_to_fp32", True)
    if model_args.kernel_config is not None and model_args.kernel_config.name == "liger_kernel":
        fields.update({"/training/use_liger_kernel": True,
                       "/training/liger_kernel_config/fused_linear_cross_entropy": False})
    fields.update(machine.quantization_fields())
    return fields, sum(p.numel() for p in model.parameters() if p.requires_grad)
