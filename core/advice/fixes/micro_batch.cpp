#include "core/advice/fixes/fixes.h"
#include "core/memory/step/evaluation.h"
#include "core/recipe/fields.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> micro_batch_levels(const FixContext& s) {
  const uint64_t batch = s.recipe.training.per_device_train_batch_size;
  const uint64_t together = batch * s.recipe.training.gradient_accumulation_steps;
  // The gradients of one micro-batch lie there while the next one runs: the first division costs that much.
  const bool uneven = memory::unsloth_chunks_by_size(s.recipe);
  const bool may_rise = s.recipe.training.gradient_accumulation_steps == 1 || uneven;
  // Alone in its batch, a sample needs no mask, and where flash cannot run SDPA then takes grouped key heads
  // to its math kernel, which keeps every score (core/memory/layers/attention.cpp).
  bool grouped = false, wide = false;
  for (const model::LayerGroup& group : s.network.stacks.front().groups) {
    grouped = grouped || (group.kv_heads > 1 && group.kv_heads < group.heads);
    wide = wide || group.head_dim > 256;
  }
  const bool old = s.gpu != nullptr && s.gpu->compute_capability > 0 && s.gpu->compute_capability < 8;
  const bool alone_differs = grouped && (wide || old || !s.recipe.autocast());
  const double most = recipe::find_field("/training/gradient_accumulation_steps")->high;
  std::vector<Level> found;
  // Every smaller batch that divides the product: never a near miss. Beyond some sizes, those at most half of
  // the one before are enough.
  for (uint64_t smaller = batch - 1; smaller >= 1; --smaller) {
    const uint64_t steps = together / smaller;
    if (steps * smaller != together || static_cast<double>(steps) > most) continue;
    found.push_back({{{"/training/per_device_train_batch_size", smaller},
                      {"/training/gradient_accumulation_steps", steps}},
                     quality::none,
                     may_rise || (smaller == 1 && alone_differs),
                     smaller == 1 && alone_differs,
                     uneven});
    if (found.size() == 14 && smaller > 1) smaller = 2;
  }
  return found;
}

constexpr Setting micro_batch_settings[] = {
    {"hf trl unsloth",
     "TrainingArguments(per_device_train_batch_size={per_device_train_batch_size}, "
     "gradient_accumulation_steps={gradient_accumulation_steps})"},
    {"axolotl",
     "micro_batch_size: {per_device_train_batch_size}\ngradient_accumulation_steps: "
     "{gradient_accumulation_steps}"},
    {"llamafactory",
     "per_device_train_batch_size: {per_device_train_batch_size}\ngradient_accumulation_steps: "
     "{gradient_accumulation_steps}"},
    {"ms-swift",
     "--per_device_train_batch_size {per_device_train_batch_size} --gradient_accumulation_steps "
     "{gradient_accumulation_steps}"},
    {"torchtune",
     "batch_size: {per_device_train_batch_size}\ngradient_accumulation_steps: {gradient_accumulation_steps}"},
    {"litgpt",
     "--train.micro_batch_size {per_device_train_batch_size}   # --train.global_batch_size stays: "
     "{gradient_accumulation_steps} in a step"},
    {"agilerl",
     "GRPO(..., micro_batch_size_per_gpu={per_device_train_batch_size})   # {gradient_accumulation_steps} in "
     "a step"},
    {"colossalai",
     "--batch_size {per_device_train_batch_size} --accumulation_steps {gradient_accumulation_steps}"},
    {"loop",
     "DataLoader(..., batch_size={per_device_train_batch_size})   # and optimizer.step() after every "
     "{gradient_accumulation_steps}"},
};

}  // namespace

const Fix micro_batch = {
    .id = "micro_batch",
    .title = "Smaller micro-batch, more accumulation",
    .slot = "micro_batch",
    .kind = FixKind::scale,
    .effort = "one setting",
    .why =
        "Activations and logits grow with the micro-batch; the gradient of a step is summed over more of "
        "them.",
    .evidence =
        "The same effective batch. Where samples differ in length, Transformers from 4.46 on weighs every "
        "token alike.",
    .source = "huggingface/transformers trainer.py; huggingface.co/blog/gradient_accumulation",
    .levels = micro_batch_levels,
    .settings = micro_batch_settings,
};

}  // namespace plimsoll::advice
