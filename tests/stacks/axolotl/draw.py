"""Axolotl configurations that nobody wrote: each key that moves memory on or off, in combinations.

    python draw.py OUT_FOLDER [COUNT [SEED]]      # OUT_FOLDER/drawn-001.json, ... for resolve.py

A drawn configuration may be one that Axolotl refuses; resolve.py leaves that one out.
"""

import json
import pathlib
import random
import sys

DENSE = ["meta-llama/Llama-3.2-1B", "meta-llama/Llama-3.1-8B", "mistralai/Mistral-7B-v0.3", "Qwen/Qwen2.5-7B",
         "Qwen/Qwen3-4B", "google/gemma-2-2b", "microsoft/phi-2", "microsoft/Phi-4-mini-instruct",
         "tiiuae/Falcon-H1-1.5B-Base", "EleutherAI/pythia-1.4b", "HuggingFaceTB/SmolLM3-3B", "google/gemma-3-1b-pt",
         "swiss-ai/Apertus-8B-Instruct-2509", "stabilityai/stablelm-2-1_6b"]
EXPERTS = ["mistralai/Mixtral-8x7B-v0.1", "Qwen/Qwen3-30B-A3B", "Qwen/Qwen1.5-MoE-A2.7B", "openai/gpt-oss-20b",
           "deepseek-ai/DeepSeek-V2-Lite", "allenai/OLMoE-1B-7B-0924", "Qwen/Qwen3.5-35B-A3B"]
VISION = ["Qwen/Qwen2.5-VL-7B-Instruct", "google/gemma-3-4b-pt", "Qwen/Qwen3-VL-4B-Instruct",
          "Qwen/Qwen2-VL-2B-Instruct",
          "mistralai/Mistral-Small-3.2-24B-Instruct-2506", "HuggingFaceTB/SmolVLM2-2.2B-Instruct"]
OPTIMIZERS = ["adamw_torch_fused", "adamw_bnb_8bit", "adamw_8bit", "paged_adamw_8bit", "paged_adamw_32bit",
              "adamw_torch", "adafactor", "lion_8bit", "muon", "ao_adamw_8bit", "sgd", "adamw_torch_8bit"]
LANGUAGE_ONLY = r"model.language_model.layers.[\d]+.(mlp|self_attn).(up|down|gate|q|k|v|o)_proj"
PLUGINS = {"liger": "axolotl.integrations.liger.LigerPlugin",
           "cce": "axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin"}


def draw_model(dice, c):
    kind = dice.choices(["dense", "experts", "vision"], [6, 2, 2])[0]
    c["base_model"] = dice.choice({"dense": DENSE, "experts": EXPERTS, "vision": VISION}[kind])
    if kind == "vision":
        c["processor_type"] = "AutoProcessor"
        c["skip_prepare_dataset"] = True
        c["remove_unused_columns"] = False
    if dice.random() < 0.1:
        c["trust_remote_code"] = True
    return kind


def draw_adapter(dice, c, kind):
    c_adapter = dice.choices(["lora", "qlora", None], [4, 4, 4])[0]
    if c_adapter is None:
        return
    c["adapter"] = c_adapter
    if c_adapter == "qlora":
        c["load_in_4bit"] = True
    elif dice.random() < 0.4:
        c["load_in_8bit"] = True
    c["lora_r"] = dice.choice([4, 8, 16, 32, 64])
    c["lora_alpha"] = dice.choice([16, 32])
    if dice.random() < 0.7:
        c["lora_dropout"] = dice.choice([0, 0.05, 0.1])
    how = dice.random()
    if how < 0.5:
        c["lora_target_linear"] = True
    elif how < 0.85:
        c["lora_target_modules"] = dice.sample(["q_proj", "k_proj", "v_proj", "o_proj", "up_proj", "down_proj"], 4)
    elif kind == "vision":
        c["lora_target_modules"] = LANGUAGE_ONLY
    else:
        c["lora_target_modules"] = ["q_proj", "v_proj"]
        if kind == "experts":
            c["lora_target_parameters"] = ["mlp.experts.gate_up_proj", "mlp.experts.down_proj"]
    if dice.random() < 0.15:
        c["lora_modules_to_save"] = ["embed_tokens", "lm_head"]
    if dice.random() < 0.1:
        c["peft_use_dora"] = True
    if dice.random() < 0.1:
        c["peft_use_rslora"] = True
    if dice.random() < 0.3:
        for key in ("lora_mlp_kernel", "lora_qkv_kernel", "lora_o_kernel"):
            c[key] = dice.random() < 0.7


def draw_task(dice, c):
    task = dice.choices(["sft", "dpo", "kto", "orpo", "ipo", "simpo", "grpo", "gdpo", "reward", "pretrain"],
                        [26, 3, 2, 2, 1, 1, 2, 1, 2, 3])[0]
    if task == "pretrain":
        c["pretraining_dataset"] = [{"path": "allenai/c4", "name": "en", "type": "pretrain"}]
        c["max_steps"] = 200
        return task
    c["datasets"] = [{"path": "mhenrichsen/alpaca_2k_test", "type": "alpaca"}]
    if task == "reward":
        c["reward_model"] = True
        c["datasets"][0]["type"] = "bradley_terry.chat_template"
    elif task != "sft":
        c["rl"] = task
        c["datasets"][0].update(type="chat_template.default", split="train")
    if task == "kto":
        c["remove_unused_columns"] = False
    if task in ("dpo", "ipo", "kto") and dice.random() < 0.5:
        c["rl_beta"] = 0.2
    if task in ("grpo", "gdpo"):
        c["trl"] = {"num_generations": 4, "max_completion_length": 256, "reward_funcs": ["rewards.length"]}
        if dice.random() < 0.5:
            c["trl"].update(use_vllm=True, beta=0.01)
            if dice.random() < 0.5:
                c["trl"]["vllm_mode"] = "colocate"
                c["vllm"] = {"gpu_memory_utilization": 0.25}
    return task


def draw_evaluation(dice, c, task):
    if task != "pretrain" and dice.random() < 0.7:
        c["val_set_size"] = dice.choice([0, 0.0, 0.02, 0.1, 0.05])
    elif task != "pretrain" and dice.random() < 0.4:
        c["test_datasets"] = [{"path": "mhenrichsen/alpaca_2k_test", "type": "alpaca", "split": "train"}]
    how = dice.random()
    if how < 0.45:
        c["evals_per_epoch"] = dice.choice([1, 1, 2, 4])
    elif how < 0.6 and (c.get("val_set_size") or c.get("test_datasets")):
        c["eval_steps"] = dice.choice([20, 0.25])
    elif how < 0.7:
        c["eval_strategy"] = dice.choice(["no", "epoch", "steps"])
    if dice.random() < 0.3:
        c["eval_batch_size"] = dice.choice([1, 4, 16])
    if dice.random() < 0.2:
        c["eval_sample_packing"] = dice.random() < 0.3
    if dice.random() < 0.2:
        c["save_steps"] = 50
    elif dice.random() < 0.5:
        c["saves_per_epoch"] = dice.choice([1, 2])
    if dice.random() < 0.2:
        c["save_total_limit"] = 2


def draw_batch(dice, c, task):
    c["sequence_len"] = dice.choice([512, 2048, 4096, 8192])
    if task in ("sft", "pretrain") and dice.random() < 0.55:
        c["sample_packing"] = True
    if dice.random() < 0.9:
        c["micro_batch_size"] = dice.choice([1, 2, 4, 8])
    if dice.random() < 0.9:
        c["gradient_accumulation_steps"] = dice.choice([1, 2, 4, 8])
    elif dice.random() < 0.6:
        c["batch_size"] = 16
    if dice.random() < 0.8:
        c["num_epochs"] = dice.choice([1, 1, 2, 3, 4])
    c["learning_rate"] = 0.0002
    if dice.random() < 0.85:
        c["optimizer"] = dice.choice(OPTIMIZERS)
    if dice.random() < 0.1:
        c["torch_empty_cache_steps"] = 10
    elif dice.random() < 0.1:
        c["gc_steps"] = 5


def draw_numbers(dice, c):
    c["bf16"] = dice.choice([True, True, True, "auto", "auto", False])
    if c["bf16"] is False:
        c["fp16"] = True
    if dice.random() < 0.3:
        c["tf32"] = True
    how = dice.random()
    if how < 0.3:
        c["attn_implementation"] = dice.choice(["flash_attention_2", "sdpa", "eager", "flex_attention",
                                                "flash_attention_3", "kernels-community/flash-attn3", "xformers"])
    elif how < 0.75:
        c[dice.choice(["flash_attention", "sdp_attention", "eager_attention", "xformers_attention"])] = True
    plugins = []
    if dice.random() < 0.2:
        plugins.append(PLUGINS["cce"])
        if dice.random() < 0.6:
            c["cut_cross_entropy"] = True
    elif dice.random() < 0.3:
        plugins.append(PLUGINS["liger"])
        for key in ("liger_rope", "liger_rms_norm", "liger_glu_activation", "liger_fused_linear_cross_entropy"):
            if dice.random() < 0.6:
                c[key] = True
    if plugins:
        c["plugins"] = plugins


def draw_memory(dice, c):
    how = dice.random()
    if how < 0.75:
        c["gradient_checkpointing"] = dice.choices([True, "offload", False], [8, 1, 1])[0]
        if c["gradient_checkpointing"] and dice.random() < 0.3:
            c["gradient_checkpointing_kwargs"] = {"use_reentrant": dice.random() < 0.5}
        elif c["gradient_checkpointing"] is True and dice.random() < 0.12:
            c["activation_offloading"] = dice.choice([True, "legacy", "disk", "hidden_states"])
    if dice.random() < 0.1:
        c["torch_compile"] = dice.choice([True, "auto"])
    how = dice.random()
    if how < 0.15:
        c["deepspeed"] = "deepspeed_configs/" + dice.choice(
            ["zero1.json", "zero2.json", "zero3.json", "zero3_bf16.json", "zero3_bf16_cpuoffload_all.json",
             "zero3_bf16_cpuoffload_params.json", "zero1_torch_compile.json"])
    elif how < 0.35:
        if dice.random() < 0.6:
            c["fsdp_version"] = 2
        c["fsdp_config"] = {"auto_wrap_policy": "TRANSFORMER_BASED_WRAP", "reshard_after_forward": dice.random() < 0.7,
                            "offload_params": dice.random() < 0.3, "cpu_ram_efficient_loading": dice.random() < 0.5,
                            "state_dict_type": "FULL_STATE_DICT"}


def draw(seed):
    """One configuration; the same seed gives the same one."""
    dice = random.Random(seed)
    c = {}
    kind = draw_model(dice, c)
    draw_adapter(dice, c, kind)
    task = draw_task(dice, c)
    draw_batch(dice, c, task)
    draw_evaluation(dice, c, task)
    draw_numbers(dice, c)
    draw_memory(dice, c)
    return c


def main(out, count=60, seed=20):
    folder = pathlib.Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    for n in range(1, int(count) + 1):
        content = {"source": f"drawn, seed {int(seed) * 1000 + n}", "config": draw(int(seed) * 1000 + n)}
        (folder / f"drawn-{n:03}.json").write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
