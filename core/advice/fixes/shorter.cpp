#include <cmath>

#include "core/advice/fixes/fixes.h"
#include "core/memory/step/evaluation.h"
#include "core/recipe/tasks.h"

namespace plimsoll::advice {

namespace {

double number_of(const FixContext& s, const char* pointer) {
  const json::Json* value = value_of(s, pointer);
  return value != nullptr && value->is_number() ? value->get<double>() : 0;
}

// The share of samples longer than `length`, between the lengths that are known of the data; negative where
// none is. Between two known ones samples are taken as evenly spread.
double share_beyond(const FixContext& s, double length) {
  struct Known {
    double length, beyond;
  };
  std::vector<Known> known = {{0, 1}};
  const auto add = [&](const char* pointer, double beyond) {
    const double at = number_of(s, pointer);
    if (at > known.back().length) known.push_back({at, beyond});
  };
  add("/data/p50_length", 0.5);
  add("/data/p90_length", 0.1);
  add("/data/p95_length", 0.05);
  add("/data/p99_length", 0.01);
  const bool spread = known.size() > 1;
  add("/data/longest_length", 0);
  if (length >= known.back().length && known.back().beyond == 0) return 0;
  if (!spread) return -1;
  for (std::size_t i = 1; i < known.size(); ++i) {
    if (length > known[i].length) continue;
    const double part = (length - known[i - 1].length) / (known[i].length - known[i - 1].length);
    return known[i - 1].beyond + part * (known[i].beyond - known[i - 1].beyond);
  }
  return known.back().beyond;  // at most: nothing is known of what is longer
}

// Rounded up: what is cut is never called less than it is.
std::string percent(double share) {
  const auto tenths = static_cast<uint64_t>(std::ceil(1000 * share - 1e-9));
  std::string text = std::to_string(tenths / 10);
  if (tenths % 10 != 0) {
    text += ".";
    text += std::to_string(tenths % 10);
  }
  text += " %";
  return text;
}

std::vector<Level> shorter_levels(const FixContext& s) {
  std::vector<Level> found;
  if (task_of(s.recipe).online) return found;  // the completion is what can be shorter
  const uint64_t now = s.recipe.training.max_length;
  int cost = quality::visible;
  for (uint64_t quarters : {3, 2, 1}) {
    const uint64_t length = now * quarters / 4 / 64 * 64;
    if (length < 128 || length >= now) continue;
    Level level{{{"/training/max_length", length}}, cost};
    level.may_rise = level.uneven = memory::unsloth_chunks_by_size(s.recipe);
    cost += 2;
    const double share = share_beyond(s, static_cast<double>(length));
    if (share >= 0) {
      level.said = "No sample";
      if (share > 0) level.said = "About " + percent(share) + " of the samples";
      level.said += share > 0 ? " are longer than " : " is longer than ";
      level.said += std::to_string(length);
      level.said += share > 0 ? " tokens and lose their end." : " tokens.";
    }
    found.push_back(std::move(level));
  }
  return found;
}

constexpr Setting shorter_settings[] = {
    {"hf loop", "max_length={max_length}"},
    {"trl", "SFTConfig(max_length={max_length})"},
    {"axolotl", "sequence_len: {max_length}"},
    {"llamafactory", "cutoff_len: {max_length}"},
    {"unsloth", "max_seq_length = {max_length}"},
    {"ms-swift", "--max_length {max_length}"},
    {"litgpt", "--train.max_seq_length {max_length}"},
    {"agilerl", "max_model_len={max_length}"},
    {"colossalai", "--max_len {max_length}"},
    {"torchtune", "tokenizer: {max_seq_len: {max_length}}"},
};

}  // namespace

const Fix shorter = {
    .id = "shorter",
    .title = "Shorter sequences",
    .slot = "length",
    .kind = FixKind::scale,
    .effort = "one setting",
    .why = "Activations and logits grow with the length; samples beyond it are cut.",
    .evidence =
        "What lies beyond the limit is not seen in training; how many samples that are depends on your data.",
    .source = "huggingface/trl sft_trainer.py truncation",
    .levels = shorter_levels,
    .settings = shorter_settings,
};

}  // namespace plimsoll::advice
