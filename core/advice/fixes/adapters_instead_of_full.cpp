#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> adapters_instead_of_full_levels(const FixContext& s) {
  if (!s.recipe.full() || s.recipe.task == "classification") return {};
  Level level;
  level.changes["/peft"] = true;
  level.changes["/peft/r"] = 16;
  level.changes["/peft/lora_alpha"] = 32;
  level.changes["/peft/target_modules"] = json::Json::array({"all-linear"});
  // A stack may have another default batch beside adapters; the batch of a step stays as it is.
  level.changes["/training/per_device_train_batch_size"] = s.recipe.training.per_device_train_batch_size;
  level.changes["/training/gradient_accumulation_steps"] = s.recipe.training.gradient_accumulation_steps;
  level.quality = quality::visible;
  return {level};
}

constexpr Setting adapters_instead_of_full_settings[] = {
    {"hf trl loop colossalai agilerl", "LoraConfig(r={r}, lora_alpha=32, target_modules=\"all-linear\")"},
    {"unsloth",
     "FastLanguageModel.get_peft_model(model, r={r}, lora_alpha=32)   # and full_finetuning=False"},
    {"axolotl", "adapter: lora\nlora_r: {r}\nlora_alpha: 32\nlora_target_linear: true"},
    {"llamafactory", "finetuning_type: lora\nlora_rank: {r}\nlora_target: all"},
    {"ms-swift",
     "--tuner_type lora --lora_rank {r} --lora_alpha 32 --target_modules all-linear   # before 4.0: "
     "--train_type lora"},
    {"torchtune",
     "model: {_component_: ...lora_..., lora_rank: {r}, lora_alpha: 32, apply_lora_to_mlp: True}"},
    {"litgpt",
     "litgpt finetune_lora ... --lora_r {r} --lora_alpha 32 --lora_key true --lora_projection true "
     "--lora_mlp true"},
};

}  // namespace

const Fix adapters_instead_of_full = {
    .id = "adapters_instead_of_full",
    .title = "LoRA instead of full fine-tuning",
    .slot = "method",
    .effort = "a new run",
    .why = "Gradients and optimizer states exist only for the adapters, less than 1 % of the weights.",
    .evidence =
        "LoRA learns less than full fine-tuning on far-off data (code, mathematics) and forgets less; on "
        "instruction data they are close.",
    .source = "Biderman et al. 2024, arXiv:2405.09673; Hu et al. 2021, arXiv:2106.09685",
    .levels = adapters_instead_of_full_levels,
    .settings = adapters_instead_of_full_settings,
};

}  // namespace plimsoll::advice
