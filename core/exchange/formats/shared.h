// What several formats say in the same way.
#pragma once

#include "core/exchange/format.h"

namespace plimsoll::exchange {

/// lora_target_modules and its kin: a list, "all-linear", or a pattern over module names, whose last part is
/// expanded: "model.language_model.layers.[\d]+.(mlp|self_attn).(up|down)_proj" names up_proj and down_proj
/// of the language part.
void read_targets(Reading& reading, const Leaf& leaf);
/// "PrefixTuning" of PrefixTuningConfig, "prompt_tuning" of a file: the contract's word for it; "" it has none.
std::string adapter_type(std::string_view word);
/// PEFT's trainable_token_indices: how many there are.
void read_token_indices(Reading& reading, const Leaf& leaf);
std::vector<std::string> expand_pattern(std::string_view pattern);

/// Checkpointing that also moves what it keeps to host memory: "offload", "unsloth".
void read_checkpointing(Reading& reading, const Leaf& leaf);

/// FULL_SHARD, SHARD_GRAD_OP, NO_SHARD, HYBRID_SHARD, or their numbers 1 to 5.
void read_sharding_strategy(Reading& reading, const Leaf& leaf);
/// Any sign that FSDP is on: a list of words, "full_shard auto_wrap", true.
void read_fsdp(Reading& reading, const Leaf& leaf);
/// 2 is fsdp2.
void read_fsdp_version(Reading& reading, const Leaf& leaf);
/// backward_prefetch as accelerate and Transformers write it.
constexpr std::string_view prefetch =
    "BACKWARD_PRE=backward_pre, BACKWARD_POST=backward_post, NO_PREFETCH=none, 1=backward_pre, "
    "2=backward_post";
/// reshard_after_forward: false is SHARD_GRAD_OP.
void read_reshard(Reading& reading, const Leaf& leaf);

/// 0 to 3: zero0 to zero3.
void read_zero_stage(Reading& reading, const Leaf& leaf);

/// max_pixels of an image: the side of the largest square.
void read_max_pixels(Reading& reading, const Leaf& leaf);
/// IMAGE_MAX_TOKEN_NUM of qwen_vl_utils, as Qwen3-VL counts: 32 x 32 pixels a token.
void read_max_image_tokens(Reading& reading, const Leaf& leaf);

/// attn_implementation, also as a kernel of the Hub: kernels-community/vllm-flash-attn3@v1:name.
void read_attention_name(Reading& reading, const Leaf& leaf);

/// Where accelerate places the weights.
void read_device_map(Reading& reading, const Leaf& leaf);

/// optim_args, as one text, and as the members of a dict, which Transformers joins in the same way.
void read_optimizer_args(Reading& reading, const Leaf& leaf);
void read_optimizer_arg(Reading& reading, const Leaf& leaf);
/// optim_target_modules: parts of names, or "all-linear", which Axolotl writes all_linear.
void read_optimizer_targets(Reading& reading, const Leaf& leaf);

/// Switches of a trainer's own for GaLore and APOLLO, which Transformers names as optimizers.
struct ProjectionKeys {
  const char* name;  ///< "galore": how the optimizer's name begins
  const char* on;
  const char* rank;
  uint64_t usual_rank;
  const char* targets;
  const char* layerwise;
};
/// To be called when all keys have been read; the keys' rows are read_implied.
void finish_projection(Reading& reading, const ProjectionKeys& keys);

/// Without a number of GPUs there are as many as share one sequence.
void finish_sequence_parallel(Reading& reading);

/// eval_strategy: no, steps, epoch, also as IntervalStrategy writes them; YAML 1.1 reads a bare "no" as
/// false.
void read_evaluation(Reading& reading, const Leaf& leaf);

/// CUDA_VISIBLE_DEVICES: how many cards, unless a launcher says it.
void read_visible_devices(Reading& reading, const Leaf& leaf);

/// Marks a key as understood without a field of its own.
void read_implied(Reading& reading, const Leaf& leaf);

}  // namespace plimsoll::exchange
