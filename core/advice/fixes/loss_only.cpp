#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> loss_only_levels(const FixContext& s) {
  if (!s.recipe.evaluates() || s.recipe.training.prediction_loss_only) return {};
  return {{{{"/training/prediction_loss_only", true}}, quality::parity}};
}

constexpr Setting loss_only_settings[] = {
    {"hf trl unsloth", "TrainingArguments(prediction_loss_only=True)"},
    {"llamafactory", "prediction_loss_only: true"},
    {"ms-swift", "--prediction_loss_only true"},
};

}  // namespace

const Fix loss_only = {
    .id = "loss_only",
    .title = "Evaluation of the loss alone",
    .slot = "eval_outputs",
    .effort = "one setting",
    .why = "No logits are collected.",
    .evidence = "Training is not touched; metrics other than the loss are not computed.",
    .source = "huggingface/transformers trainer.py prediction_step",
    .levels = loss_only_levels,
    .settings = loss_only_settings,
};

}  // namespace plimsoll::advice
