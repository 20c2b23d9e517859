#include "core/advice/fixes/fixes.h"
#include "core/model/model_types.h"
#include "core/recipe/loss_kernels.h"
#include "core/recipe/stacks.h"
#include "core/recipe/tasks.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> fused_loss_levels(const FixContext& s) {
  const recipe::Recipe& r = s.recipe;
  const bool whole = recipe::loss_kernel(r.training.loss_kernel).whole_logits;
  if (!whole) return {};
  const recipe::Task& task = recipe::task_of(r);
  if (!task.vocabulary || !model::model_type(s.network.model_type).liger) return {};
  // Losses of preferences that read the logits.
  if (recipe::stack_traits(r.stack).liger_for_sft_alone && !task.plain_text()) return {};
  Level level;
  level.changes["/training/use_liger_kernel"] = true;
  // Liger refuses both (monkey_patch.py, "cannot both be True").
  const auto apart = s.values.find("/training/liger_kernel_config/cross_entropy");
  if (apart != s.values.end() && apart->second == json::Json(true)) level.changes[apart->first] = false;
  // What was said about single kernels stays as it was said.
  level.changes["/training/loss_kernel"] = "liger";
  return {level};
}

constexpr Setting fused_loss_settings[] = {
    {"hf trl", "TrainingArguments(use_liger_kernel=True)   # pip install liger-kernel"},
    {"axolotl", "plugins: [axolotl.integrations.liger.LigerPlugin]\nliger_fused_linear_cross_entropy: true"},
    {"llamafactory", "enable_liger_kernel: true"},
    {"ms-swift", "--use_liger_kernel true   # pip install liger-kernel"},
    {"agilerl", "GRPO(..., use_liger_loss=True)"},
    {"loop colossalai",
     "from liger_kernel.transformers import AutoLigerKernelForCausalLM; model = "
     "AutoLigerKernelForCausalLM.from_pretrained(...)"},
};

}  // namespace

const Fix fused_loss = {
    .id = "fused_loss",
    .title = "Liger fused cross-entropy",
    .slot = "loss",
    .effort = "a package",
    .why =
        "The logits of all tokens never exist at once: the loss and its gradient are computed chunk by "
        "chunk.",
    .evidence = "The same loss up to rounding; Liger reports equal curves.",
    .source = "linkedin/Liger-Kernel src/liger_kernel/ops/fused_linear_cross_entropy.py; arXiv:2410.10989",
    .levels = fused_loss_levels,
    .settings = fused_loss_settings,
};

}  // namespace plimsoll::advice
