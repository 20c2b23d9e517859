#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> frozen_tower_levels(const FixContext& s) {
  const recipe::Recipe& r = s.recipe;
  if (s.network.image.rule == model::ImageTokens::Rule::none || r.vision.images_per_sample == 0) return {};
  if (r.full() && !r.vision.freeze_vision_tower)
    return {{{{"/vision/freeze_vision_tower", true}}, quality::small}};
  if (r.peft.on && r.peft.finetune_vision_layers)
    return {{{{"/peft/finetune_vision_layers", false}}, quality::small}};
  return {};
}

constexpr Setting frozen_tower_settings[] = {
    {"hf trl loop agilerl colossalai",
     "for p in model.model.vision_tower.parameters(): p.requires_grad = False"},
    {"axolotl",
     "unfrozen_parameters: ['^model.language_model.*', '^lm_head.*']   # with adapters: lora_target_modules "
     "that matches the language model alone"},
    {"llamafactory", "freeze_vision_tower: true"},
    {"ms-swift", "--freeze_vit true"},
    {"unsloth", "FastVisionModel.get_peft_model(..., finetune_vision_layers=False)"},
    {"torchtune", "model: {encoder_trainable: False}"},
};

}  // namespace

const Fix frozen_tower = {
    .id = "frozen_tower",
    .title = "The vision tower stays as it is",
    .slot = "tower",
    .effort = "one setting",
    .why = "No gradients, states or kept activations for the tower.",
    .evidence = "Usual for instruction data; a new kind of image (medical, satellite) learns less.",
    .source = "Liu et al. 2023, arXiv:2310.03744; huggingface/trl examples",
    .levels = frozen_tower_levels,
    .settings = frozen_tower_settings,
};

}  // namespace plimsoll::advice
