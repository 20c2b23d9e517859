#include "core/advice/fixes/fixes.h"
#include "core/recipe/strategies.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> sharded_in_host_memory_levels(const FixContext& s) {
  const recipe::Parallel& p = s.recipe.parallel;
  if (p.num_gpus < 2 || !is_plain(strategy_of(s.recipe)) || s.recipe.quantization.load_in_8bit) return {};
  return {{{{"/parallel/strategy", "fsdp"}, {"/parallel/fsdp_config/offload_params", true}}, quality::none}};
}

constexpr Setting sharded_in_host_memory_settings[] = {
    {"hf trl", "accelerate launch --use_fsdp --fsdp_sharding_strategy FULL_SHARD --fsdp_offload_params true"},
    {"axolotl", "fsdp_config: {offload_params: true, auto_wrap_policy: TRANSFORMER_BASED_WRAP}"},
    {"llamafactory", "accelerate launch --config_file examples/accelerate/fsdp_config_offload.yaml"},
    {"ms-swift", "--fsdp 'full_shard auto_wrap offload'"},
    {"torchtune", "fsdp_cpu_offload: True"},
};

}  // namespace

// With a base of four bits: how PEFT's documentation trains 70B on two cards of 24 GB.
const Fix sharded_in_host_memory = {
    .id = "sharded_in_host_memory",
    .title = "FSDP with parameters offloaded to CPU",
    .slot = "strategy",
    .to_host = true,
    .effort = "one setting",
    .why =
        "Each GPU keeps its share of weights, gradients and states in RAM; a layer crosses PCIe when it "
        "runs.",
    .evidence = "The same update.",
    .source = "huggingface/peft docs/source/accelerate/fsdp.md; pytorch FSDP CPUOffload",
    .levels = sharded_in_host_memory_levels,
    .settings = sharded_in_host_memory_settings,
};

}  // namespace plimsoll::advice
