#include "core/advice/fixes/fixes.h"
#include "core/recipe/strategies.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> sharded_parameters_levels(const FixContext& s) {
  const recipe::Parallel& p = s.recipe.parallel;
  if (p.num_gpus < 2 || shards_parameters(strategy_of(s.recipe)) || s.recipe.quantization.load_in_8bit)
    return {};
  return {{{{"/parallel/strategy", "zero3"}}, quality::none}};
}

constexpr Setting sharded_parameters_settings[] = {
    {"hf trl", "TrainingArguments(deepspeed=\"ds_zero3.json\")   # {\"zero_optimization\": {\"stage\": 3}}"},
    {"loop agilerl", "accelerate launch --use_deepspeed --zero_stage 3"},
    {"axolotl", "deepspeed: deepspeed_configs/zero3.json"},
    {"llamafactory", "deepspeed: examples/deepspeed/ds_z3_config.json"},
    {"ms-swift", "--deepspeed zero3"},
};

}  // namespace

const Fix sharded_parameters = {
    .id = "sharded_parameters",
    .title = "Everything shared out (ZeRO-3)",
    .slot = "strategy",
    .effort = "one setting",
    .why = "Each GPU keeps its share of weights, gradients and states; a layer is gathered while it runs.",
    .evidence = "The same update.",
    .source =
        "deepspeedai/DeepSpeed deepspeed/runtime/zero/stage3.py; Rajbhandari et al. 2019, arXiv:1910.02054",
    .levels = sharded_parameters_levels,
    .settings = sharded_parameters_settings,
};

}  // namespace plimsoll::advice
