#include "core/advice/fixes/fixes.h"
#include "core/recipe/strategies.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> optimizer_in_host_memory_levels(const FixContext& s) {
  const bool there = s.recipe.parallel.zero.offload_optimizer != "none";
  if (!is_zero(strategy_of(s.recipe)) || there) return {};
  return {{{{"/parallel/zero_optimization/offload_optimizer/device", "cpu"}}, quality::none}};
}

constexpr Setting optimizer_in_host_memory_settings[] = {
    {"hf trl", "{\"zero_optimization\": {\"offload_optimizer\": {\"device\": \"cpu\"}}}"},
    {"loop agilerl", "accelerate launch --use_deepspeed --offload_optimizer_device cpu"},
    {"axolotl",
     "{\"zero_optimization\": {\"offload_optimizer\": {\"device\": \"cpu\"}}}   # in the file that "
     "deepspeed: names"},
    {"llamafactory",
     "deepspeed: examples/deepspeed/ds_z2_offload_config.json   # stage 3: ds_z3_offload_config.json with "
     "offload_param taken out"},
    {"ms-swift", "--deepspeed zero2_offload   # stage 3: a file of its own with offload_optimizer alone"},
    {"colossalai", "--plugin zero2_cpu"},
};

}  // namespace

const Fix optimizer_in_host_memory = {
    .id = "optimizer_in_host_memory",
    .title = "Optimizer states in host memory",
    .slot = "offload",
    .to_host = true,
    .effort = "one setting",
    .why = "Master weights and states lie in RAM and the CPU makes the update.",
    .evidence = "The same update.",
    .source = "deepspeedai/DeepSpeed docs, ZeRO-Offload; Ren et al. 2021, arXiv:2101.06840",
    .levels = optimizer_in_host_memory_levels,
    .settings = optimizer_in_host_memory_settings,
};

}  // namespace plimsoll::advice
