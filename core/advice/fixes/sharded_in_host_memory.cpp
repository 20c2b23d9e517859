#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> levels(const Situation& s) {
  const recipe::Parallel& p = s.recipe.parallel;
  const bool whole = p.strategy == "none" || p.strategy == "ddp";
  if (p.num_gpus < 2 || !whole || s.recipe.quantization.load_in_8bit) return {};
  return {{{{"/parallel/strategy", "fsdp"}, {"/parallel/fsdp_config/offload_params", true}}, quality::none}};
}

constexpr Setting settings[] = {
    {"hf trl", "accelerate launch --use_fsdp --fsdp_sharding_strategy FULL_SHARD --fsdp_offload_params true"},
    {"axolotl", "fsdp_config: {offload_params: true, auto_wrap_policy: TRANSFORMER_BASED_WRAP}"},
    {"llamafactory", "accelerate launch --config_file examples/accelerate/fsdp_config_offload.yaml"},
    {"ms-swift", "--fsdp 'full_shard auto_wrap offload'"},
    {"torchtune", "fsdp_cpu_offload: True"},
};

}  // namespace

// With a base of four bits: how PEFT's documentation trains 70B on two cards of 24 GB.
const Fix sharded_in_host_memory = {
    "sharded_in_host_memory",
    "FSDP with parameters offloaded to CPU",
    "strategy",
    Kind::choice,
    Needs::nothing,
    "one setting",
    "Each GPU keeps its share of weights, gradients and states in RAM; a layer crosses PCIe when it runs.",
    "The same update.",
    "huggingface/peft docs/source/accelerate/fsdp.md; pytorch FSDP CPUOffload",
    levels,
    settings};

}  // namespace plimsoll::advice
