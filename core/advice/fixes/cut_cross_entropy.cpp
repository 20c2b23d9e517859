#include "core/advice/fixes/fixes.h"
#include "core/model/model_types.h"
#include "core/recipe/loss_kernels.h"
#include "core/recipe/stacks.h"

namespace plimsoll::advice {

namespace {

bool cce_knows(const std::string& type, bool fork) {
  const model::CutCrossEntropy known = model::model_type(type).cut_cross_entropy;
  return known == model::CutCrossEntropy::apple || (fork && known == model::CutCrossEntropy::fork);
}

std::vector<Level> cut_cross_entropy_levels(const FixContext& s) {
  const recipe::Recipe& r = s.recipe;
  const bool whole = recipe::loss_kernel(r.training.loss_kernel).whole_logits;
  const bool fork = recipe::stack_traits(r.stack).cce_fork;
  if (!whole || r.task != "sft" || !cce_knows(s.network.model_type, fork)) return {};
  // Triton kernels in 16 bits from Ampere on.
  if (s.gpu != nullptr && !s.gpu->bf16) return {};
  return {{{{"/training/loss_kernel", "cut_cross_entropy"}}, quality::none}};
}

constexpr Setting cut_cross_entropy_settings[] = {
    {"hf trl loop",
     "from cut_cross_entropy.transformers import cce_patch; model = cce_patch(model)   # pip install "
     "\"cut-cross-entropy @ git+https://github.com/apple/ml-cross-entropy.git\""},
    {"axolotl", "plugins: [axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin]"},
};

}  // namespace

const Fix cut_cross_entropy = {
    .id = "cut_cross_entropy",
    .title = "Cut cross-entropy",
    .slot = "loss",
    .effort = "a package",
    .why = "The loss is computed from blocks of logits that never leave the GPU's own caches.",
    .evidence =
        "The same loss up to rounding; gradients too small for bfloat16 are skipped, and the curves agree.",
    .source = "apple/ml-cross-entropy; Wijmans et al. 2024, arXiv:2411.09009, figure 4",
    .levels = cut_cross_entropy_levels,
    .settings = cut_cross_entropy_settings,
};

}  // namespace plimsoll::advice
