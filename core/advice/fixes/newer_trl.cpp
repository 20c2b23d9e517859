#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

// Before 1.10 GRPO and RLOO generate half as many tokens by default: a plan would change what is learned from.
std::vector<Level> newer_trl_levels(const FixContext& s) {
  const recipe::Recipe& r = s.recipe;
  const std::string& trl = r.versions.trl;
  const bool compares = r.task == "dpo" || r.task == "kto";
  const bool generates = r.task == "grpo" || r.task == "rloo";
  if (r.training.loss_kernel != "stock" || recipe::version_at_least(trl, "1.15")) return {};
  if (!compares && !(generates && recipe::version_at_least(trl, "1.10"))) return {};
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
