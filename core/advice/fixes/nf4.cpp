#include "core/advice/fixes/fixes.h"
#include "core/recipe/methods.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> nf4_levels(const FixContext& s) {
  const recipe::Recipe& r = s.recipe;
  if (r.quantization.load_in_4bit || !r.quantization.quant_method.empty()) return {};
  Level level;
  level.changes = recipe::quantization_of(*recipe::find_method("qlora"), nullptr);
  if (r.quantization.load_in_8bit) level.changes["/quantization/load_in_8bit"] = false;
  if (!r.autocast()) {
    const bool half = s.gpu != nullptr && !s.gpu->bf16;
    level.changes["/quantization/bnb_4bit_compute_dtype"] = half ? "float16" : "bfloat16";
  }
  level.quality = quality::parity;
  return {level};
}

constexpr Setting nf4_settings[] = {
    {"hf trl loop agilerl",
     "BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type=\"nf4\", bnb_4bit_use_double_quant=True, "
     "bnb_4bit_compute_dtype=torch.bfloat16)   # float16 where the card has no bfloat16"},
    {"axolotl", "load_in_4bit: true\nadapter: qlora"},
    {"llamafactory", "quantization_bit: 4\ndouble_quantization: true"},
    {"ms-swift", "--quant_method bnb --quant_bits 4"},
    {"unsloth", "FastLanguageModel.from_pretrained(..., load_in_4bit=True)"},
    {"torchtune", "model: {_component_: ...qlora_...}"},
    {"litgpt", "--quantize bnb.nf4-dq --precision bf16-true"},
};

}  // namespace

const Fix nf4 = {
    .id = "nf4",
    .title = "Load base model in 4-bit (NF4)",
    .slot = "base",
    .needs = Needs::adapters,
    .effort = "a package",
    .why = "Frozen weights take 0.52 bytes instead of 2; they are unpacked layer by layer.",
    .evidence = "QLoRA matched 16-bit LoRA on MMLU and on instruction data from 7B to 65B.",
    .source = "Dettmers et al. 2023, arXiv:2305.14314, tables 3 and 4; bitsandbytes functional.py",
    .levels = nf4_levels,
    .settings = nf4_settings,
};

}  // namespace plimsoll::advice
