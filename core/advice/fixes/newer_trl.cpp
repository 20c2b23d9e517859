#include <algorithm>
#include <iterator>

#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

// The first release from which on 1.16 takes another loss and leaves every other default: before 1.0
// checkpointing, the optimizer and the release of Transformers change too, before 1.10 the length of completions.
struct Since {
  std::string_view task, trl;
};
constexpr Since same_but_for_the_loss[] = {
    {"dpo", "1.0"}, {"kto", "1.0"}, {"grpo", "1.10"}, {"rloo", "1.10"}};

std::vector<Level> newer_trl_levels(const FixContext& s) {
  const recipe::Versions& versions = s.recipe.versions;
  const auto* since = std::find_if(std::begin(same_but_for_the_loss), std::end(same_but_for_the_loss),
                                   [&](const Since& one) { return one.task == s.recipe.task; });
  if (since == std::end(same_but_for_the_loss) || s.recipe.training.loss_kernel != "stock") return {};
  if (recipe::version_at_least(versions.trl, "1.15")) return {};
  // What TRL 1.16 requires.
  if (!recipe::version_at_least(versions.transformers, "4.56.2")) return {};
  if (!recipe::version_at_least(versions.trl, since->trl)) return {};
  return {{{{"/versions/trl", "1.16.0"}}, quality::none}};
}

constexpr Setting newer_trl_settings[] = {
    {"trl", "pip install --upgrade \"trl>={trl}\""},
};

}  // namespace

const Fix newer_trl = {
    .id = "newer_trl",
    .title = "TRL 1.15 or newer",
    .slot = "loss",
    .effort = "a package",
    .why =
        "Log-probabilities come from tiles of the logits, made again in the backward, and of a preference "
        "from the tokens of the answers alone: no tensor of all logits exists.",
    .evidence = "The same numbers up to rounding.",
    .source =
        "huggingface/trl v1.15 and v1.16 trl/trainer/utils.py add_fused_lm_head, trl/kernels/chunked_logprob.py",
    .levels = newer_trl_levels,
    .settings = newer_trl_settings,
};

}  // namespace plimsoll::advice
