#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> pure_bfloat16_levels(const FixContext& s) {
  const recipe::Recipe& r = s.recipe;
  if (r.model_args.dtype != "float32" || !r.full()) return {};
  if (s.gpu != nullptr && !s.gpu->bf16) return {};
  return {{{{"/model_args/dtype", "bfloat16"}, {"/training/bf16", false}, {"/training/fp16", false}},
           quality::small}};
}

constexpr Setting pure_bfloat16_settings[] = {
    {"hf trl unsloth", "from_pretrained(..., dtype=torch.bfloat16), TrainingArguments(bf16=False)"},
    {"loop agilerl colossalai", "from_pretrained(..., dtype=torch.bfloat16)   # without torch.autocast"},
    {"axolotl", "bf16: full"},
    {"llamafactory", "pure_bf16: true"},
    {"ms-swift", "--torch_dtype bfloat16 --bf16 false"},
    {"litgpt", "--precision bf16-true"},
    {"torchtune", "dtype: bf16"},
};

}  // namespace

const Fix pure_bfloat16 = {
    .id = "pure_bfloat16",
    .title = "Everything in bfloat16",
    .slot = "dtype",
    .needs = Needs::full,
    .effort = "one setting",
    .why = "Weights, gradients and optimizer states take 2 bytes instead of 4.",
    .evidence =
        "Small updates are rounded away: full fine-tuning in pure bfloat16 ends somewhat "
        "worse unless rounding is stochastic.",
    .source = "huggingface/transformers; Zamirai et al. 2020, arXiv:2010.06192",
    .levels = pure_bfloat16_levels,
    .settings = pure_bfloat16_settings,
};

}  // namespace plimsoll::advice
