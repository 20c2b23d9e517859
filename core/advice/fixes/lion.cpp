#include "core/advice/fixes/fixes.h"
#include "core/recipe/optimizers.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> lion_levels(const FixContext& s) {
  if (!recipe::plain_adamw(s.recipe.training.optim)) return {};
  return {{{{"/training/optim", "lion_8bit"}}, quality::small}};
}

constexpr Setting lion_settings[] = {
    {"hf trl unsloth", "TrainingArguments(optim=\"lion_8bit\")"},
    {"axolotl", "optimizer: lion_8bit"},
    {"llamafactory", "optim: lion_8bit"},
    {"ms-swift", "--optim lion_8bit"},
    {"torchtune", "optimizer: {_component_: bitsandbytes.optim.Lion8bit}"},
    {"litgpt", "--optimizer bitsandbytes.optim.Lion8bit"},
    {"loop", "optimizer = bitsandbytes.optim.Lion8bit(model.parameters(), lr=lr)"},
};

}  // namespace

const Fix lion = {
    .id = "lion",
    .title = "8-bit Lion",
    .slot = "optimizer",
    .effort = "a package",
    .why = "One state of one byte instead of two of four.",
    .evidence = "Another update rule: it needs a learning rate three to ten times lower.",
    .source = "Chen et al. 2023, arXiv:2302.06675; bitsandbytes optim/lion.py",
    .levels = lion_levels,
    .settings = lion_settings,
};

}  // namespace plimsoll::advice
