#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> int8_levels(const FixContext& s) {
  const recipe::Recipe& r = s.recipe;
  if (r.quantized()) return {};
  return {{{{"/quantization/load_in_8bit", true}}, quality::parity}};
}

constexpr Setting int8_settings[] = {
    {"hf trl loop agilerl", "BitsAndBytesConfig(load_in_8bit=True)"},
    {"axolotl", "load_in_8bit: true\nadapter: lora"},
    {"llamafactory", "quantization_bit: 8"},
    {"ms-swift", "--quant_method bnb --quant_bits 8"},
    {"unsloth", "FastLanguageModel.from_pretrained(..., load_in_8bit=True)"},
    {"litgpt", "--quantize bnb.int8-training --precision bf16-true"},
};

}  // namespace

const Fix int8 = {
    .id = "int8",
    .title = "The base in 8 bits",
    .slot = "base",
    .needs = Needs::adapters,
    .effort = "a package",
    .why = "Frozen weights take 1 byte instead of 2.",
    .evidence =
        "LLM.int8 keeps outliers in 16 bits; fine-tuning on top of it matched 16 bits in the QLoRA "
        "paper's comparison.",
    .source = "Dettmers et al. 2022, arXiv:2208.07339; Dettmers et al. 2023, arXiv:2305.14314, table 3",
    .levels = int8_levels,
    .settings = int8_settings,
};

}  // namespace plimsoll::advice
