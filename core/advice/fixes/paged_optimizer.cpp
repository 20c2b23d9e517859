#include "core/advice/fixes/fixes.h"
#include "core/recipe/optimizers.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> paged_optimizer_levels(const FixContext& s) {
  if (!recipe::plain_adamw(s.recipe.training.optim)) return {};
  return {{{{"/training/optim", "paged_adamw_32bit"}}, quality::none}};
}

constexpr Setting paged_optimizer_settings[] = {
    {"hf trl unsloth", "TrainingArguments(optim=\"paged_adamw_32bit\")"},
    {"axolotl", "optimizer: paged_adamw_32bit"},
    {"llamafactory", "optim: paged_adamw_32bit"},
    {"ms-swift", "--optim paged_adamw_32bit"},
    {"torchtune", "optimizer: {_component_: bitsandbytes.optim.PagedAdamW}"},
    {"litgpt", "--optimizer bitsandbytes.optim.PagedAdamW"},
    {"loop", "optimizer = bitsandbytes.optim.PagedAdamW(model.parameters(), lr=lr)"},
};

}  // namespace

const Fix paged_optimizer = {
    .id = "paged_optimizer",
    .title = "Paged AdamW",
    .slot = "optimizer",
    .to_host = true,
    .effort = "a package",
    .why = "The states lie in managed memory and move to host RAM when the card is full.",
    .evidence = "The same update.",
    .source =
        "bitsandbytes optim/optimizer.py get_state_buffer; Dettmers et al. 2023, arXiv:2305.14314, section 3",
    .levels = paged_optimizer_levels,
    .settings = paged_optimizer_settings,
};

}  // namespace plimsoll::advice
