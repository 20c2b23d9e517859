#include <algorithm>

#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> quantized_experts_levels(const FixContext& s) {
  const std::vector<model::LayerGroup>& groups = s.network.stacks.front().groups;
  const bool routed = std::any_of(groups.begin(), groups.end(),
                                  [](const model::LayerGroup& group) { return group.experts > 0; });
  if (!routed || s.recipe.quantization.quantize_moe_experts) return {};
  return {{{{"/quantization/quantize_moe_experts", true}}, quality::parity}};
}

constexpr Setting quantized_experts_settings[] = {
    {"axolotl", "quantize_moe_experts: true"},
};

}  // namespace

const Fix quantized_experts = {
    .id = "quantized_experts",
    .title = "Quantise the experts too",
    .slot = "experts",
    .needs = Needs::quantised,
    .effort = "one setting",
    .why =
        "Transformers 5 holds the experts of a layer as one parameter, which bitsandbytes leaves in 16 bits; "
        "Axolotl packs it while the checkpoint is loaded.",
    .evidence = "The same base as before Transformers 5, where experts were linears.",
    .source = "axolotl-ai-cloud/axolotl docs/expert_quantization.qmd",
    .levels = quantized_experts_levels,
    .settings = quantized_experts_settings,
};

}  // namespace plimsoll::advice
