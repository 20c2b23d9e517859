#include "core/advice/fixes/fixes.h"
#include "core/recipe/optimizers.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> eight_bit_optimizer_levels(const FixContext& s) {
  if (!recipe::plain_adamw(s.recipe.training.optim)) return {};
  return {{{{"/training/optim", "adamw_bnb_8bit"}}, quality::parity}};
}

constexpr Setting eight_bit_optimizer_settings[] = {
    {"hf trl", "TrainingArguments(optim=\"adamw_bnb_8bit\")"},
    {"unsloth", "optim = \"adamw_8bit\""},
    {"axolotl", "optimizer: adamw_bnb_8bit"},
    {"llamafactory", "optim: adamw_8bit"},
    {"ms-swift", "--optim adamw_bnb_8bit"},
    {"torchtune", "optimizer: {_component_: bitsandbytes.optim.AdamW8bit}"},
    {"litgpt", "--optimizer bitsandbytes.optim.AdamW8bit"},
    {"loop", "optimizer = bitsandbytes.optim.AdamW8bit(model.parameters(), lr=lr)"},
};

}  // namespace

const Fix eight_bit_optimizer = {
    .id = "eight_bit_optimizer",
    .title = "8-bit AdamW",
    .slot = "optimizer",
    .effort = "a package",
    .why = "Both states take one byte an element instead of four.",
    .evidence = "The same results as 32-bit AdamW across language, vision and translation.",
    .source = "Dettmers et al. 2021, arXiv:2110.02861, table 1; bitsandbytes optim/adamw.py",
    .levels = eight_bit_optimizer_levels,
    .settings = eight_bit_optimizer_settings,
};

}  // namespace plimsoll::advice
