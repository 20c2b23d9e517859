#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> no_kbit_upcast_levels(const FixContext& s) {
  const recipe::Quantization& q = s.recipe.quantization;
  const bool given = s.values.count("/quantization/prepare_for_kbit_training") != 0;
  if (!q.quant_method.empty()) return {};
  if (s.recipe.quantized() && given && !q.prepare_for_kbit_training) return {};
  return {{{{"/quantization/prepare_for_kbit_training", false}, {"/quantization/upcast", "none"}},
           quality::parity}};
}

constexpr Setting no_kbit_upcast_settings[] = {
    {"hf loop agilerl",
     "model.gradient_checkpointing_enable(); model.enable_input_require_grads()   # in place of "
     "prepare_model_for_kbit_training(model)"},
    {"trl", "# TRL 0.26 and later: nothing to do"},
    {"llamafactory", "upcast_layernorm: false"},
};

}  // namespace

const Fix no_kbit_upcast = {
    .id = "no_kbit_upcast",
    .title = "No upcast to fp32 on a quantised base",
    .slot = "upcast",
    .needs = Needs::quantised,
    .effort = "a line of code",
    .why =
        "prepare_model_for_kbit_training turns embeddings, head and norms to fp32, and "
        "with them every tensor between the layers.",
    .evidence =
        "TRL (from 0.26), Axolotl and Unsloth train without the cast; measured runs "
        "without it end at the same loss.",
    .source =
        "huggingface/peft utils/other.py prepare_model_for_kbit_training; "
        "foundation-model-stack/fms-acceleration",
    .levels = no_kbit_upcast_levels,
    .settings = no_kbit_upcast_settings,
};

}  // namespace plimsoll::advice
