#include "core/advice/fixes/fixes.h"
#include "core/recipe/strategies.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> sharded_states_levels(const FixContext& s) {
  if (s.recipe.parallel.num_gpus < 2 || shards_gradients(strategy_of(s.recipe))) return {};
  return {{{{"/parallel/strategy", "zero2"}}, quality::none}};
}

constexpr Setting sharded_states_settings[] = {
    {"hf trl", "TrainingArguments(deepspeed=\"ds_zero2.json\")   # {\"zero_optimization\": {\"stage\": 2}}"},
    {"loop agilerl", "accelerate launch --use_deepspeed --zero_stage 2"},
    {"axolotl", "deepspeed: deepspeed_configs/zero2.json"},
    {"llamafactory", "deepspeed: examples/deepspeed/ds_z2_config.json"},
    {"ms-swift", "--deepspeed zero2"},
    {"colossalai", "--plugin zero2"},
};

}  // namespace

const Fix sharded_states = {
    .id = "sharded_states",
    .title = "Optimizer states and gradients shared out (ZeRO-2)",
    .slot = "strategy",
    .effort = "one setting",
    .why = "Each GPU keeps its share of the optimizer states and gradients instead of all of them.",
    .evidence = "The same update.",
    .source =
        "deepspeedai/DeepSpeed deepspeed/runtime/zero/stage_1_and_2.py; Rajbhandari et al. 2019, "
        "arXiv:1910.02054",
    .levels = sharded_states_levels,
    .settings = sharded_states_settings,
};

}  // namespace plimsoll::advice
