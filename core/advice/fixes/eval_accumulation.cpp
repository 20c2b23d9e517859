#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> eval_accumulation_levels(const FixContext& s) {
  if (!s.recipe.evaluates() || s.recipe.training.eval_accumulation_steps == 1) return {};
  return {{{{"/training/eval_accumulation_steps", 1}}, quality::none}};
}

constexpr Setting eval_accumulation_settings[] = {
    {"hf trl unsloth", "TrainingArguments(eval_accumulation_steps={eval_accumulation_steps})"},
    {"llamafactory", "eval_accumulation_steps: {eval_accumulation_steps}"},
    {"ms-swift", "--eval_accumulation_steps {eval_accumulation_steps}"},
};

}  // namespace

const Fix eval_accumulation = {
    .id = "eval_accumulation",
    .title = "Evaluation results to host memory",
    .slot = "eval_accumulation",
    .effort = "one setting",
    .why = "Without it the logits of the whole evaluation set pile up on the GPU until it ends.",
    .evidence = "Training is not touched.",
    .source = "huggingface/transformers trainer.py evaluation_loop, eval_accumulation_steps",
    .levels = eval_accumulation_levels,
    .settings = eval_accumulation_settings,
};

}  // namespace plimsoll::advice
