#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> non_reentrant_checkpointing_levels(const FixContext& s) {
  const recipe::Training& t = s.recipe.training;
  if (!t.gradient_checkpointing || !t.use_reentrant) return {};
  return {{{{"/training/gradient_checkpointing_kwargs/use_reentrant", false}}, quality::none}};
}

constexpr Setting non_reentrant_checkpointing_settings[] = {
    {"hf trl", "TrainingArguments(gradient_checkpointing_kwargs={\"use_reentrant\": False})"},
    {"axolotl", "gradient_checkpointing_kwargs: {use_reentrant: false}"},
    {"llamafactory", "use_reentrant_gc: false"},
    {"ms-swift", "--gradient_checkpointing_kwargs '{\"use_reentrant\": false}'"},
    {"loop agilerl colossalai",
     "model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={\"use_reentrant\": False})"},
};

}  // namespace

const Fix non_reentrant_checkpointing = {
    .id = "non_reentrant_checkpointing",
    .title = "Checkpointing without reentrance",
    .slot = "checkpointing",
    .effort = "one setting",
    .why = "The recomputation stops at the last tensor that is needed and does not hold the layer's output.",
    .evidence = "The same numbers.",
    .source = "pytorch/pytorch torch/utils/checkpoint.py _StopRecomputationError",
    .levels = non_reentrant_checkpointing_levels,
    .settings = non_reentrant_checkpointing_settings,
};

}  // namespace plimsoll::advice
