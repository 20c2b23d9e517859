#include <algorithm>

#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

// Experts that Transformers 5 holds as one parameter, and that were linears before.
bool were_linears(const Situation& s) {
  if (!recipe::version_at_least(s.recipe.versions.transformers, "5")) return false;
  if (s.recipe.model_args.implementation != "transformers") return false;
  const std::vector<model::LayerGroup>& groups = s.network.stacks.front().groups;
  return std::any_of(groups.begin(), groups.end(), [](const model::LayerGroup& group) {
    return std::any_of(group.linears.begin(), group.linears.end(), [](const model::Linear& linear) {
      return linear.expert && linear.module != model::Module::parameter;
    });
  });
}

std::vector<Level> levels(const Situation& s) {
  const recipe::Quantization& q = s.recipe.quantization;
  const bool others = !q.quant_method.empty() || q.quantize_moe_experts;
  if (others || s.recipe.model_args.linearized_experts || !were_linears(s)) return {};
  if (s.recipe.stack == "axolotl") return {{{{"/quantization/quantize_moe_experts", true}}, quality::parity}};
  return {{{{"/versions/transformers", "4.57.6"}}, quality::parity}};
}

constexpr Setting settings[] = {
    {"axolotl", "quantize_moe_experts: true"},
    {"hf trl loop llamafactory ms-swift", "pip install \"transformers=={transformers}\""},
};

}  // namespace

const Fix packed_experts = {
    "packed_experts",
    "Quantise the experts too",
    "experts",
    Kind::choice,
    Needs::quantised,
    "a package",
    "Transformers 5 holds the experts of a layer as one parameter, which bitsandbytes leaves in 16 bits; "
    "before they are linears, and are packed.",
    "The base of QLoRA, as it was before Transformers 5.",
    "huggingface/transformers v4.57 and v5 models/qwen3_moe/modeling_qwen3_moe.py; axolotl-ai-cloud/axolotl "
    "docs/expert_quantization.qmd",
    levels,
    settings};

}  // namespace plimsoll::advice
