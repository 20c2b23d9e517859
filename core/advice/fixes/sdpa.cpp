#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> sdpa_levels(const FixContext& s) {
  if (s.recipe.model_args.attn_implementation != "eager") return {};
  // Soft-capped scores have no fused kernel there.
  for (const model::LayerGroup& group : s.network.stacks.front().groups) {
    if (group.soft_capped) return {};
  }
  return {{{{"/model_args/attn_implementation", "sdpa"}}, quality::none}};
}

constexpr Setting sdpa_settings[] = {
    {"hf trl loop colossalai agilerl", "from_pretrained(..., attn_implementation=\"sdpa\")"},
    {"axolotl", "attn_implementation: sdpa   # older releases: sdp_attention: true"},
    {"llamafactory", "flash_attn: sdpa"},
    {"ms-swift", "--attn_impl sdpa"},
};

}  // namespace

const Fix sdpa = {
    .id = "sdpa",
    .title = "Fused attention (SDPA)",
    .slot = "attention",
    .effort = "one setting",
    .why =
        "Eager attention holds length x length scores for every head; PyTorch's fused kernels never write "
        "them.",
    .evidence = "The same numbers up to rounding.",
    .source = "pytorch scaled_dot_product_attention; huggingface/transformers integrations/sdpa_attention.py",
    .levels = sdpa_levels,
    .settings = sdpa_settings,
};

}  // namespace plimsoll::advice
