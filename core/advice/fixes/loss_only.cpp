#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> levels(const Situation& s) {
  if (!evaluates(s) || s.recipe.training.prediction_loss_only) return {};
  return {{{{"/training/prediction_loss_only", true}}, quality::parity}};
}

constexpr Setting settings[] = {
    {"hf trl unsloth", "TrainingArguments(prediction_loss_only=True)"},
    {"llamafactory", "prediction_loss_only: true"},
    {"ms-swift", "--prediction_loss_only true"},
};

}  // namespace

const Fix loss_only = {"loss_only",
                       "Evaluation of the loss alone",
                       "eval_outputs",
                       Kind::choice,
                       Needs::nothing,
                       "one setting",
                       "No logits are collected.",
                       "Training is not touched; metrics other than the loss are not computed.",
                       "huggingface/transformers trainer.py prediction_step",
                       levels,
                       settings};

}  // namespace plimsoll::advice
