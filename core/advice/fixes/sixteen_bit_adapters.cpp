#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> sixteen_bit_adapters_levels(const FixContext& s) {
  const recipe::Recipe& r = s.recipe;
  if (r.peft.on && r.peft.adapter_dtype != "float32") return {};
  // The gradient scaler refuses float16 parameters.
  if (r.training.fp16 || (s.gpu != nullptr && !s.gpu->bf16)) return {};
  return {{{{"/peft/adapter_dtype", "bfloat16"}}, quality::small}};
}

constexpr Setting sixteen_bit_adapters_settings[] = {
    {"hf loop agilerl colossalai", "get_peft_model(model, config, autocast_adapter_dtype=False)"},
    {"trl", "# TRL 0.26 and later does this on a quantised base"},
    {"axolotl", "peft_autocast_adapter_dtype: false"},
    {"llamafactory", "pure_bf16: true"},
    {"ms-swift", "--lora_dtype bfloat16"},
    {"litgpt", "--precision bf16-true"},
    {"torchtune", "dtype: bf16"},
};

}  // namespace

const Fix sixteen_bit_adapters = {
    .id = "sixteen_bit_adapters",
    .title = "Adapters in 16 bits",
    .slot = "adapter_dtype",
    .needs = Needs::adapters,
    .effort = "one setting",
    .why = "Adapters, their gradients and their optimizer states take half.",
    .evidence =
        "The QLoRA paper trained its adapters so, and TRL does on quantised bases from 0.26; small updates "
        "may be rounded away at low learning rates.",
    .source =
        "Dettmers et al. 2023, arXiv:2305.14314, section 3; huggingface/trl sft_trainer.py; huggingface/peft "
        "autocast_adapter_dtype",
    .levels = sixteen_bit_adapters_levels,
    .settings = sixteen_bit_adapters_settings,
};

}  // namespace plimsoll::advice
