// Writing ms-swift's arguments.
#pragma once

#include "core/exchange/formats/transformers.h"

namespace plimsoll::exchange {

// swift/arguments/*.py, swift/trainers/arguments.py: what SftArguments and RLHFArguments do not have.
inline constexpr Refusal ms_swift_refused[] = {
    {"optim", no_optimizer},
    {"activation_offloading bits disable_dropout eval_packing group_size llm_int8_skip_modules load_in_4bit "
     "load_in_8bit max_prompt_length precompute_ref_log_probs prepare_for_kbit_training parallelism_config*"},
    {"beta num_generations max_completion_length steps_per_generation num_iterations use_vllm vllm_mode "
     "vllm_gpu_memory_utilization vllm_tensor_parallel_size sleep_level cpo_alpha",
     "", "sft"},
    {"quant_method", "!bnb eetq fp8 hqq quanto"},
    {"lora_bias", "!all none"},
    {"truncation_strategy", "!delete left right split"},
};

bool write_ms_swift(Writing& out, const std::string& pointer, const json::Json& value);
void close_ms_swift(Writing& out);

}  // namespace plimsoll::exchange
