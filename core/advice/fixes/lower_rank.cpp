#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> lower_rank_levels(const FixContext& s) {
  std::vector<Level> found;
  if (!s.recipe.peft.on) return found;
  int cost = quality::visible;
  for (uint64_t r = s.recipe.peft.r / 2; r >= 4 && found.size() < 5; r /= 2) {
    const double alpha =
        s.recipe.peft.lora_alpha * static_cast<double>(r) / static_cast<double>(s.recipe.peft.r);
    found.push_back({{{"/peft/r", r}, {"/peft/lora_alpha", alpha}}, cost++});
  }
  return found;
}

constexpr Setting lower_rank_settings[] = {
    {"hf trl loop colossalai agilerl", "LoraConfig(r={r}, lora_alpha={lora_alpha})"},
    {"unsloth", "FastLanguageModel.get_peft_model(..., r={r}, lora_alpha={lora_alpha})"},
    {"axolotl", "lora_r: {r}\nlora_alpha: {lora_alpha}"},
    {"llamafactory", "lora_rank: {r}\nlora_alpha: {lora_alpha}"},
    {"ms-swift", "--lora_rank {r} --lora_alpha {lora_alpha}"},
    {"litgpt", "--lora_r {r} --lora_alpha {lora_alpha}"},
    {"torchtune", "lora_rank: {r}\nlora_alpha: {lora_alpha}"},
};

}  // namespace

const Fix lower_rank = {
    .id = "lower_rank",
    .title = "Lower rank",
    .slot = "rank",
    .kind = FixKind::scale,
    .needs = Needs::adapters,
    .effort = "one setting",
    .why = "Adapters, their gradients and their states shrink with the rank; alpha is kept in ratio.",
    .evidence =
        "The QLoRA paper finds no effect of the rank between 8 and 256 on instruction data; on far-off "
        "data a higher rank learns more.",
    .source = "Dettmers et al. 2023, arXiv:2305.14314, appendix A.1; Biderman et al. 2024, arXiv:2405.09673",
    .levels = lower_rank_levels,
    .settings = lower_rank_settings,
};

}  // namespace plimsoll::advice
