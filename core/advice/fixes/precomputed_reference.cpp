#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> precomputed_reference_levels(const FixContext& s) {
  const std::string& task = s.recipe.task;
  const json::Json* now = value_of(s, "/rl/precompute_ref_log_probs");
  if ((task != "dpo" && task != "kto") || now == nullptr || *now != json::Json(false)) return {};
  return {{{{"/rl/precompute_ref_log_probs", true}}, quality::none}};
}

constexpr Setting precomputed_reference_settings[] = {
    {"hf trl unsloth", "DPOConfig(precompute_ref_log_probs=True)"},
    {"axolotl", "precompute_ref_log_probs: true"},
};

}  // namespace

const Fix precomputed_reference = {
    .id = "precomputed_reference",
    .title = "Reference log-probabilities beforehand",
    .slot = "reference",
    .effort = "one setting",
    .why =
        "The reference scores the data once before training and is then let go: "
        "no second model, no second forward pass.",
    .evidence = "The same numbers.",
    .source = "huggingface/trl trl/trainer/dpo_trainer.py precompute_ref_log_probs",
    .levels = precomputed_reference_levels,
    .settings = precomputed_reference_settings,
};

}  // namespace plimsoll::advice
