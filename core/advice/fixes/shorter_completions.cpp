#include "core/advice/fixes/fixes.h"
#include "core/recipe/tasks.h"

namespace plimsoll::advice {

namespace {

// The prompt stays as long as it is: it is given, the completion is written by the policy. Both lengths are
// set, so that they add up whichever of the three the request states.
std::vector<Level> shorter_completions_levels(const FixContext& s) {
  std::vector<Level> found;
  if (!task_of(s.recipe).online) return found;
  const uint64_t now = s.recipe.rl.max_completion_length, total = s.recipe.training.max_length;
  if (total <= now) return found;
  const uint64_t prompt = total - now;
  int cost = quality::visible;
  for (uint64_t quarters : {3, 2, 1}) {
    const uint64_t length = now * quarters / 4 / 16 * 16;
    if (length < 32 || length >= now) continue;
    found.push_back(
        {{{"/rl/max_completion_length", length}, {"/training/max_length", prompt + length}}, cost});
    cost += 2;
  }
  return found;
}

constexpr Setting shorter_completions_settings[] = {
    {"hf trl unsloth loop", "max_completion_length={max_completion_length}"},
    {"axolotl", "trl: {max_completion_length: {max_completion_length}}"},
    {"llamafactory", "max_new_tokens: {max_completion_length}"},
    {"ms-swift", "--max_completion_length {max_completion_length}"},
    {"agilerl", "GRPO(..., max_output_tokens={max_completion_length})"},
};

}  // namespace

const Fix shorter_completions = {
    .id = "shorter_completions",
    .title = "Shorter completions",
    .slot = "length",
    .kind = FixKind::scale,
    .effort = "one setting",
    .why = "Activations and logits grow with the completion, and so does the cache of its generation.",
    .evidence =
        "A completion that is cut has no end to be rewarded for; how many are that long depends on your "
        "prompts.",
    .source = "huggingface/trl trainer/grpo_config.py max_completion_length; ppo_config.py response_length",
    .levels = shorter_completions_levels,
    .settings = shorter_completions_settings,
};

}  // namespace plimsoll::advice
