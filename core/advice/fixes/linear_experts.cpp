#include <algorithm>

#include "core/advice/fixes/fixes.h"
#include "core/recipe/implementations.h"

namespace plimsoll::advice {

namespace {

// Experts that Transformers 5 holds as one parameter, and that were linears before.
bool were_linears(const FixContext& s) {
  if (!recipe::version_at_least(s.recipe.versions.transformers, "5")) return false;
  if (!recipe::implementation_of(s.recipe).transformers) return false;
  const std::vector<model::LayerGroup>& groups = s.network.stacks.front().groups;
  return std::any_of(groups.begin(), groups.end(), [](const model::LayerGroup& group) {
    return std::any_of(group.linears.begin(), group.linears.end(), [](const model::Linear& linear) {
      return linear.expert && linear.module != model::Module::parameter;
    });
  });
}

std::vector<Level> linear_experts_levels(const FixContext& s) {
  if (s.recipe.model_args.linearized_experts || !were_linears(s)) return {};
  return {{{{"/versions/transformers", "4.57.6"}}, quality::parity}};
}

constexpr Setting linear_experts_settings[] = {
    {"hf trl loop llamafactory ms-swift", "pip install \"transformers=={transformers}\""},
};

}  // namespace

const Fix linear_experts = {
    .id = "linear_experts",
    .title = "Experts as linear layers",
    .slot = "experts",
    .needs = Needs::adapters,
    .effort = "a package",
    .why =
        "Transformers 5 holds the experts of a layer as one parameter: bitsandbytes leaves it in 16 bits, "
        "and adapters on it are built anew in each forward. Before, they are linears, packed with the "
        "others.",
    .evidence = "The same base and the same adapters as before Transformers 5.",
    .source = "huggingface/transformers v4.57 and v5 models/qwen3_moe/modeling_qwen3_moe.py",
    .levels = linear_experts_levels,
    .settings = linear_experts_settings,
};

}  // namespace plimsoll::advice
