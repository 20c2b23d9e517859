#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

// The AdamW family with states of 4 bytes, that the others stand in for.
bool whole_adamw(const std::string& optim) {
  return optim == "adamw_torch" || optim == "adamw_torch_fused" || optim == "adamw_hf" ||
         optim == "adamw_torch_for_loop" || optim == "adamw_apex_fused";
}

std::vector<Level> levels(const FixContext& s) {
  if (!whole_adamw(s.recipe.training.optim)) return {};
  return {{{{"/training/optim", "paged_adamw_32bit"}}, quality::none}};
}

constexpr Setting settings[] = {
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
    .effort = "a package",
    .why = "The states lie in managed memory and move to host RAM when the card is full.",
    .evidence = "The same update.",
    .source =
        "bitsandbytes optim/optimizer.py get_state_buffer; Dettmers et al. 2023, arXiv:2305.14314, section 3",
    .levels = levels,
    .settings = settings,
};

}  // namespace plimsoll::advice
