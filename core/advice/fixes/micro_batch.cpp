#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> levels(const Situation& s) {
  const uint64_t batch = s.recipe.training.per_device_train_batch_size;
  const uint64_t together = batch * s.recipe.training.gradient_accumulation_steps;
  // The gradients of one micro-batch lie there while the next one runs: the first division costs that much.
  const bool begins = s.recipe.training.gradient_accumulation_steps == 1;
  std::vector<Level> found;
  // Every smaller batch that divides the product: never a near miss. Beyond some sizes, those at most half of
  // the one before are enough.
  for (uint64_t smaller = batch - 1; smaller >= 1; --smaller) {
    if (together % smaller != 0) continue;
    found.push_back({{{"/training/per_device_train_batch_size", smaller},
                      {"/training/gradient_accumulation_steps", together / smaller}},
                     quality::none,
                     begins});
    if (found.size() == 14 && smaller > 1) smaller = 2;
  }
  return found;
}

constexpr Setting settings[] = {
    {"",
     "TrainingArguments(per_device_train_batch_size={per_device_train_batch_size}, "
     "gradient_accumulation_steps={gradient_accumulation_steps})"},
    {"axolotl",
     "micro_batch_size: {per_device_train_batch_size}\ngradient_accumulation_steps: "
     "{gradient_accumulation_steps}"},
    {"llamafactory",
     "per_device_train_batch_size: {per_device_train_batch_size}\ngradient_accumulation_steps: "
     "{gradient_accumulation_steps}"},
    {"torchtune",
     "batch_size: {per_device_train_batch_size}\ngradient_accumulation_steps: {gradient_accumulation_steps}"},
};

}  // namespace

const Fix micro_batch = {
    "micro_batch",
    "Smaller micro-batch, more accumulation",
    "micro_batch",
    Kind::scale,
    Needs::nothing,
    "one setting",
    "Activations and logits grow with the micro-batch; the gradient of a step is summed over more of them.",
    "The same effective batch. Where samples differ in length, Transformers from 4.46 on weighs every token "
    "alike.",
    "huggingface/transformers trainer.py; huggingface.co/blog/gradient_accumulation",
    levels,
    settings};

}  // namespace plimsoll::advice
