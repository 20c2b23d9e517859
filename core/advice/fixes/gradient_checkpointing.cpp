#include "core/advice/fixes/fixes.h"
#include "core/recipe/stacks.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> gradient_checkpointing_levels(const FixContext& s) {
  if (s.recipe.training.gradient_checkpointing) return {};
  const bool reentrant_only = recipe::stack_traits(s.recipe.stack).reentrant_only;
  return {{{{"/training/gradient_checkpointing", true},
            {"/training/gradient_checkpointing_kwargs/use_reentrant", reentrant_only}},
           quality::none}};
}

constexpr Setting gradient_checkpointing_settings[] = {
    {"hf trl",
     "TrainingArguments(gradient_checkpointing=True, gradient_checkpointing_kwargs={\"use_reentrant\": "
     "False})"},
    {"axolotl", "gradient_checkpointing: true\ngradient_checkpointing_kwargs: {use_reentrant: false}"},
    {"llamafactory", "disable_gradient_checkpointing: false"},
    {"ms-swift",
     "--gradient_checkpointing true --gradient_checkpointing_kwargs '{\"use_reentrant\": false}'"},
    {"unsloth", "FastLanguageModel.get_peft_model(..., use_gradient_checkpointing=\"unsloth\")"},
    {"torchtune", "enable_activation_checkpointing: True"},
    {"agilerl", "GRPO(..., gradient_checkpointing=True)"},
    {"colossalai", "--grad_checkpoint"},
    {"loop", "model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={\"use_reentrant\": False})"},
};

}  // namespace

const Fix gradient_checkpointing = {
    .id = "gradient_checkpointing",
    .title = "Gradient checkpointing",
    .slot = "checkpointing",
    .effort = "one setting",
    .why = "Only each layer's input is kept for the backward pass; the rest is computed again there.",
    .evidence = "The same numbers: the forward pass is repeated with the same random state.",
    .source = "pytorch/pytorch torch/utils/checkpoint.py; Chen et al. 2016, arXiv:1604.06174",
    .levels = gradient_checkpointing_levels,
    .settings = gradient_checkpointing_settings,
};

}  // namespace plimsoll::advice
