#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> plain_loss_levels(const FixContext& s) {
  if (s.recipe.training.loss_kernel != "chunked_nll") return {};
  return {{{{"/training/loss_kernel", "stock"}}, quality::none}};
}

constexpr Setting plain_loss_settings[] = {
    {"trl unsloth", "SFTConfig(loss_type=\"nll\")"},
};

}  // namespace

const Fix plain_loss = {
    .id = "plain_loss",
    .title = "The chunked loss off",
    .slot = "loss",
    .effort = "one setting",
    .why = "With few tokens the chunked loss costs memory: it holds the whole head in fp32.",
    .evidence = "The same loss.",
    .source = "huggingface/trl trl/trainer/sft_trainer.py _chunked_cross_entropy_loss",
    .levels = plain_loss_levels,
    .settings = plain_loss_settings,
};

}  // namespace plimsoll::advice
