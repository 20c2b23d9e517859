// Which keys of the shared tables the classes of TRL's tasks do not have: trl v1.16 trl/trainer/*_config.py,
// trl/experimental/{orpo,cpo}, trl/trainer/model_config.py.
#pragma once

#include "core/exchange/formats/transformers.h"

namespace plimsoll::exchange {

// Of the tasks' configurations, and last of ModelConfig, whose place from_pretrained and LoraConfig take in a
// script. A parallelism_config is an object of accelerate's, which no file holds.
inline constexpr Refusal trl_refused[] = {
    {"optim", no_optimizer},
    {"packing eval_packing", "", "!sft"},
    {"max_length", "", "!sft dpo kto reward orpo cpo simpo"},
    {"padding_free", "", "!sft dpo"},
    {"activation_offloading", "", "!sft dpo kto reward"},
    {"disable_dropout", "", "!dpo kto grpo rloo reward orpo cpo simpo"},
    {"loss_type", "", "!sft dpo kto grpo cpo simpo"},
    {"loss_type", "!nll dft chunked_nll", "sft"},
    {"loss_type", "!kto apo_zero_unpaired", "kto"},
    {"beta", "", "!dpo kto grpo rloo orpo cpo simpo"},
    {"max_completion_length", "", "!grpo rloo orpo cpo simpo"},
    {"num_generations temperature steps_per_generation num_iterations use_vllm vllm_mode "
     "vllm_gpu_memory_utilization vllm_tensor_parallel_size vllm_enable_sleep_mode",
     "", "!grpo rloo"},
    {"precompute_ref_log_probs", "", "!dpo kto"},
    {"cpo_alpha", "", "!cpo simpo"},
    {"max_prompt_length parallelism_config* training.max_seq_length training.max_seq_len"},
    {"training.attn_implementation training.dtype training.torch_dtype"},
    {keys_of_other_adapters},
    {"bits group_size quant_method"},
    {"bnb_4bit_compute_dtype llm_int8_skip_modules prepare_for_kbit_training "
     "device_map max_memory num_labels lora_bias"},
};
constexpr std::span<const Refusal> trl_script_refusals =
    std::span<const Refusal>(trl_refused).first(std::size(trl_refused) - 1);

}  // namespace plimsoll::exchange
