#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> sixteen_bit_load_levels(const FixContext& s) {
  const recipe::Recipe& r = s.recipe;
  if (r.model_args.dtype != "float32" || r.full()) return {};
  const bool half = r.training.fp16 || (s.gpu != nullptr && !s.gpu->bf16);
  const std::string stored = s.network.checkpoint_dtype;
  const bool same = stored.empty() || stored == (half ? "float16" : "bfloat16");
  return {{{{"/model_args/dtype", half ? "float16" : "bfloat16"}}, same ? quality::none : quality::parity}};
}

constexpr Setting sixteen_bit_load_settings[] = {
    {"hf unsloth loop agilerl colossalai", "from_pretrained(..., dtype=torch.{dtype})"},
    {"trl", "SFTConfig(model_init_kwargs={\"dtype\": \"{dtype}\"})"},
    {"axolotl", "bf16: true   # loads the base in it"},
    {"llamafactory", "bf16: true"},
    {"ms-swift", "--torch_dtype {dtype}"},
    {"litgpt", "--precision bf16-true"},
    {"torchtune", "dtype: bf16"},
};

}  // namespace

const Fix sixteen_bit_load = {
    .id = "sixteen_bit_load",
    .title = "Weights loaded in 16 bits",
    .slot = "dtype",
    .needs = Needs::adapters,
    .effort = "one setting",
    .why = "A frozen base in fp32 takes twice the memory, and autocast copies it to 16 bits once more.",
    .evidence =
        "The published checkpoint is in 16 bits already, so nothing is lost; the frozen weights are "
        "multiplied in 16 bits under autocast anyway.",
    .source = "huggingface/transformers modeling_utils.py from_pretrained(dtype=...)",
    .levels = sixteen_bit_load_levels,
    .settings = sixteen_bit_load_settings,
};

}  // namespace plimsoll::advice
