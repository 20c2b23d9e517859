#include "core/advice/fixes/fixes.h"
#include "core/recipe/optimizers.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> paged_eight_bit_optimizer_levels(const FixContext& s) {
  const recipe::Optimizer* now = recipe::find_optimizer(s.recipe.training.optim);
  const bool there = now != nullptr && now->paged && now->block > 0;
  if (now == nullptr || !now->adamw || there) return {};
  return {{{{"/training/optim", "paged_adamw_8bit"}}, quality::parity}};
}

constexpr Setting paged_eight_bit_optimizer_settings[] = {
    {"hf trl unsloth", "TrainingArguments(optim=\"paged_adamw_8bit\")"},
    {"axolotl", "optimizer: paged_adamw_8bit"},
    {"llamafactory", "optim: paged_adamw_8bit"},
    {"ms-swift", "--optim paged_adamw_8bit"},
    {"torchtune", "optimizer: {_component_: bitsandbytes.optim.PagedAdamW8bit}"},
    {"litgpt", "--optimizer bitsandbytes.optim.PagedAdamW8bit"},
    {"loop", "optimizer = bitsandbytes.optim.PagedAdamW8bit(model.parameters(), lr=lr)"},
};

}  // namespace

const Fix paged_eight_bit_optimizer = {
    .id = "paged_eight_bit_optimizer",
    .title = "Paged 8-bit AdamW",
    .slot = "optimizer",
    .to_host = true,
    .effort = "a package",
    .why = "States of one byte, in managed memory that moves to host RAM when the card is full.",
    .evidence = "The same results as 32-bit AdamW across language, vision and translation.",
    .source = "Dettmers et al. 2021, arXiv:2110.02861, table 1; bitsandbytes optim/adamw.py",
    .levels = paged_eight_bit_optimizer_levels,
    .settings = paged_eight_bit_optimizer_settings,
};

}  // namespace plimsoll::advice
