#include "core/advice/fixes/fixes.h"
#include "core/recipe/loss_kernels.h"
#include "core/recipe/stacks.h"

namespace plimsoll::advice {

namespace {

// apple/ml-cross-entropy cut_cross_entropy/transformers/patch.py; axolotl-ai-cloud/ml-cross-entropy knows
// more.
bool cce_knows(const std::string& type, bool fork) {
  constexpr std::string_view known[] = {"llama", "phi3", "mistral", "gemma2", "qwen2"};
  constexpr std::string_view more[] = {"cohere",     "cohere2",   "gemma",    "gemma3",      "gemma3_text",
                                       "glm",        "glm4",      "granite",  "llama4",      "llama4_text",
                                       "mistral3",   "mllama",    "olmo",     "olmo2",       "olmo3",
                                       "qwen2_5_vl", "qwen2_moe", "qwen2_vl", "qwen3",       "qwen3_moe",
                                       "smollm3",    "mixtral",   "llava",    "deepseek_v3", "gpt_oss"};
  for (std::string_view one : known) {
    if (one == type) return true;
  }
  for (std::string_view one : more) {
    if (fork && one == type) return true;
  }
  return false;
}

std::vector<Level> levels(const Situation& s) {
  const recipe::Recipe& r = s.recipe;
  const bool whole = recipe::loss_kernel(r.training.loss_kernel).whole_logits;
  const bool fork = recipe::stack_traits(r.stack).cce_fork;
  if (!whole || r.task != "sft" || !cce_knows(s.network.model_type, fork)) return {};
  // Triton kernels in 16 bits from Ampere on.
  if (s.gpu != nullptr && !s.gpu->bf16) return {};
  return {{{{"/training/loss_kernel", "cut_cross_entropy"}}, quality::none}};
}

constexpr Setting settings[] = {
    {"hf trl loop",
     "from cut_cross_entropy.transformers import cce_patch; model = cce_patch(model)   # pip install "
     "\"cut-cross-entropy @ git+https://github.com/apple/ml-cross-entropy.git\""},
    {"axolotl", "plugins: [axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin]"},
};

}  // namespace

const Fix cut_cross_entropy = {
    "cut_cross_entropy",
    "Cut cross-entropy",
    "loss",
    Kind::choice,
    Needs::nothing,
    "a package",
    "The loss is computed from blocks of logits that never leave the GPU's own caches.",
    "The same loss up to rounding; gradients too small for bfloat16 are skipped, and the curves agree.",
    "apple/ml-cross-entropy; Wijmans et al. 2024, arXiv:2411.09009, figure 4",
    levels,
    settings};

}  // namespace plimsoll::advice
