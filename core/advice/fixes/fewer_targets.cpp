#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> fewer_targets_levels(const FixContext& s) {
  const std::vector<std::string>& now = s.recipe.peft.target_modules;
  if (!s.recipe.peft.on || now.empty()) return {};  // empty: adapters on parameters alone
  // Among the targets that are there, those of the attention; then q and v alone.
  std::vector<Level> found;
  const auto keep = [&](const std::vector<std::string_view>& names) {
    json::Json kept = json::Json::array();
    for (std::string_view name : names) {
      bool there = false;
      for (const std::string& target : now) there = there || target == name || target == "all-linear";
      if (there) kept.push_back(std::string(name));
    }
    const bool fewer = kept.size() < now.size() || now.front() == "all-linear";
    const bool milder = found.empty() || kept.size() < found.back().changes.begin()->second.size();
    if (!kept.empty() && fewer && milder) {
      found.push_back({{{"/peft/target_modules", kept}}, quality::visible + static_cast<int>(found.size())});
    }
  };
  bool usual = false;
  for (const model::Linear& linear : s.network.stacks.front().groups.front().linears) {
    usual = usual || linear.path.find("q_proj") != std::string::npos;
  }
  if (!usual) return {};
  keep({"q_proj", "k_proj", "v_proj", "o_proj"});
  keep({"q_proj", "v_proj"});
  return found;
}

constexpr Setting fewer_targets_settings[] = {
    {"hf trl loop colossalai agilerl", "LoraConfig(target_modules={target_modules})"},
    {"unsloth", "FastLanguageModel.get_peft_model(..., target_modules={target_modules})"},
    {"axolotl", "lora_target_modules: {target_modules}"},
    {"llamafactory", "lora_target: {target_modules}"},
    {"ms-swift", "--target_modules with the names {target_modules}"},
    {"torchtune", "lora_attn_modules: {target_modules}"},
    {"litgpt",
     "--lora_query, --lora_key, --lora_value, --lora_projection and --lora_mlp: true for {target_modules} "
     "alone"},
};

}  // namespace

const Fix fewer_targets = {
    .id = "fewer_targets",
    .title = "Fewer target modules",
    .slot = "targets",
    .kind = FixKind::scale,
    .needs = Needs::adapters,
    .effort = "one setting",
    .why = "Each adapted layer keeps its input and the adapter's output for the backward pass.",
    .evidence =
        "Adapters on all linear layers learn more than on attention alone at the same number of parameters.",
    .source = "Dettmers et al. 2023, arXiv:2305.14314, figure 2; Biderman et al. 2024, arXiv:2405.09673",
    .levels = fewer_targets_levels,
    .settings = fewer_targets_settings,
};

}  // namespace plimsoll::advice
