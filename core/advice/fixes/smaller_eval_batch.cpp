#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> smaller_eval_batch_levels(const FixContext& s) {
  std::vector<Level> found;
  if (!s.recipe.evaluates()) return found;
  for (uint64_t batch = s.recipe.training.per_device_eval_batch_size / 2; batch >= 1; batch /= 2) {
    found.push_back({{{"/training/per_device_eval_batch_size", batch}}, quality::none});
  }
  return found;
}

constexpr Setting smaller_eval_batch_settings[] = {
    {"hf trl unsloth", "TrainingArguments(per_device_eval_batch_size={per_device_eval_batch_size})"},
    {"axolotl", "eval_batch_size: {per_device_eval_batch_size}"},
    {"llamafactory", "per_device_eval_batch_size: {per_device_eval_batch_size}"},
    {"ms-swift", "--per_device_eval_batch_size {per_device_eval_batch_size}"},
    {"loop", "DataLoader(eval_dataset, batch_size={per_device_eval_batch_size})"},
};

}  // namespace

const Fix smaller_eval_batch = {
    .id = "smaller_eval_batch",
    .title = "Smaller evaluation batch",
    .slot = "eval_batch",
    .kind = FixKind::choice,  // half the batch may be two batches, whose logits are joined
    .effort = "one setting",
    .why = "Evaluation keeps no activations, but its logits are whole: they grow with its own batch.",
    .evidence = "Training is not touched.",
    .source = "huggingface/transformers trainer.py evaluation_loop",
    .levels = smaller_eval_batch_levels,
    .settings = smaller_eval_batch_settings,
};

}  // namespace plimsoll::advice
