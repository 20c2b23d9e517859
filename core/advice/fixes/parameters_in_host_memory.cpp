#include "core/advice/fixes/fixes.h"
#include "core/recipe/strategies.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> parameters_in_host_memory_levels(const FixContext& s) {
  const recipe::Parallel& p = s.recipe.parallel;
  const recipe::Strategy strategy = strategy_of(s.recipe);
  if (strategy == recipe::Strategy::zero3 && p.zero.offload_param == "none") {
    return {{{{"/parallel/zero_optimization/offload_param/device", "cpu"},
              {"/parallel/zero_optimization/offload_optimizer/device", "cpu"}},
             quality::none}};
  }
  if (!is_fsdp(strategy) || p.fsdp.offload_params) return {};
  return {{{{"/parallel/fsdp_config/offload_params", true}}, quality::none}};
}

constexpr Setting parameters_in_host_memory_settings[] = {
    {"hf trl",
     "{\"zero_optimization\": {\"offload_param\": {\"device\": \"cpu\"}, \"offload_optimizer\": {\"device\": "
     "\"cpu\"}}}   # FSDP: fsdp_offload_params: true"},
    {"loop agilerl",
     "accelerate launch --use_deepspeed --offload_param_device cpu --offload_optimizer_device cpu   # FSDP: "
     "fsdp_offload_params: true"},
    {"axolotl",
     "deepspeed: deepspeed_configs/zero3_bf16_cpuoffload_all.json   # FSDP: fsdp_config: {offload_params: "
     "true}"},
    {"llamafactory",
     "deepspeed: examples/deepspeed/ds_z3_offload_config.json   # FSDP: fsdp_offload_params: true in the "
     "accelerate file"},
    {"ms-swift", "--deepspeed zero3_offload   # FSDP: --fsdp 'full_shard auto_wrap offload'"},
    {"torchtune", "fsdp_cpu_offload: True"},
};

}  // namespace

const Fix parameters_in_host_memory = {
    .id = "parameters_in_host_memory",
    .title = "Offload parameters to CPU",
    .slot = "offload",
    .to_host = true,
    .effort = "one setting",
    .why = "Weights, gradients and states lie in RAM; each layer crosses PCIe when it runs.",
    .evidence = "The same update.",
    .source = "deepspeedai/DeepSpeed docs, ZeRO-Infinity; pytorch FSDP CPUOffload",
    .levels = parameters_in_host_memory_levels,
    .settings = parameters_in_host_memory_settings,
};

}  // namespace plimsoll::advice
