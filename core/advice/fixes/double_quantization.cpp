#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> double_quantization_levels(const FixContext& s) {
  const recipe::Quantization& q = s.recipe.quantization;
  if (!q.load_in_4bit || q.bnb_4bit_use_double_quant) return {};
  return {{{{"/quantization/bnb_4bit_use_double_quant", true}}, quality::parity}};
}

constexpr Setting double_quantization_settings[] = {
    {"hf trl loop agilerl", "BitsAndBytesConfig(bnb_4bit_use_double_quant=True)"},
    {"unsloth", "BitsAndBytesConfig(bnb_4bit_use_double_quant=True)"},
    {"axolotl", "bnb_config_kwargs: {bnb_4bit_use_double_quant: true}"},
    {"llamafactory", "double_quantization: true"},
    {"ms-swift", "--bnb_4bit_use_double_quant true"},
    {"litgpt", "--quantize bnb.nf4-dq"},
};

}  // namespace

const Fix double_quantization = {
    .id = "double_quantization",
    .title = "Double quantization",
    .slot = "base",
    .needs = Needs::quantised,
    .effort = "one setting",
    .why = "The scales of 4-bit weights are quantised too: 0.516 instead of 0.5625 bytes a weight.",
    .evidence = "No difference in the QLoRA paper.",
    .source = "Dettmers et al. 2023, arXiv:2305.14314, section 4",
    .levels = double_quantization_levels,
    .settings = double_quantization_settings,
};

}  // namespace plimsoll::advice
