#include "core/advice/fixes/fixes.h"
#include "core/recipe/optimizers.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> fused_optimizer_levels(const FixContext& s) {
  const recipe::Optimizer* now = recipe::find_optimizer(s.recipe.training.optim);
  if (now == nullptr || !now->adamw || now->temporary == recipe::StepTemporary::none) return {};
  return {{{{"/training/optim", "adamw_torch_fused"}}, quality::none}};
}

constexpr Setting fused_optimizer_settings[] = {
    {"hf trl unsloth", "TrainingArguments(optim=\"adamw_torch_fused\")"},
    {"axolotl", "optimizer: adamw_torch_fused"},
    {"llamafactory", "optim: adamw_torch_fused"},
    {"ms-swift", "--optim adamw_torch_fused"},
    {"torchtune", "optimizer: {_component_: torch.optim.AdamW, fused: True}"},
    {"litgpt", "--optimizer.class_path torch.optim.AdamW --optimizer.init_args.fused true"},
    {"loop", "optimizer = torch.optim.AdamW(model.parameters(), lr=lr, fused=True)"},
};

}  // namespace

const Fix fused_optimizer = {
    .id = "fused_optimizer",
    .title = "Fused AdamW",
    .slot = "optimizer",
    .effort = "one setting",
    .why =
        "The foreach AdamW makes one more copy of all trained parameters while it "
        "steps; the fused kernel makes none.",
    .evidence = "The same update.",
    .source = "pytorch/pytorch torch/optim/adam.py _multi_tensor_adam, _fused_adam",
    .levels = fused_optimizer_levels,
    .settings = fused_optimizer_settings,
};

}  // namespace plimsoll::advice
