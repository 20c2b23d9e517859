#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> levels(const Situation& s) {
  std::vector<Level> found;
  const uint64_t now = s.recipe.training.max_length;
  int cost = quality::visible;
  for (uint64_t quarters : {3, 2, 1}) {
    const uint64_t length = now * quarters / 4 / 64 * 64;
    if (length < 128 || length >= now) continue;
    found.push_back({{{"/training/max_length", length}}, cost});
    cost += 2;
  }
  return found;
}

constexpr Setting settings[] = {
    {"", "max_length={max_length}"},
    {"axolotl", "sequence_len: {max_length}"},
    {"llamafactory", "cutoff_len: {max_length}"},
    {"unsloth", "max_seq_length = {max_length}"},
    {"torchtune", "tokenizer: {max_seq_len: {max_length}}"},
};

}  // namespace

const Fix shorter = {
    "shorter",
    "Shorter sequences",
    "length",
    Kind::scale,
    Needs::nothing,
    "one setting",
    "Activations and logits grow with the length; samples beyond it are cut.",
    "What lies beyond the limit is not seen in training; how many samples that are depends on your data.",
    "huggingface/trl sft_trainer.py truncation",
    levels,
    settings};

}  // namespace plimsoll::advice
