// PaddleOCR-VL: ERNIE 4.5 behind a SigLIP-shaped tower that takes images as they are. Transformers 5.23,
// models/paddleocr_vl; the published config has its text fields at the top.
#include "core/model/families.h"
#include "core/model/families/vision_towers.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::times;

void read_paddleocr_vl(ConfigReader& config, const Frame&, Architecture& network) {
  const Frame frame{"model.language_model.", true, "lm_head"};
  if (config.has("text_config")) {
    ConfigReader text = config.required_part("text_config");
    read_ernie4_5(text, frame, network);
  } else {
    read_ernie4_5(config, frame, network);
  }
  const uint64_t hidden = network.stacks.front().hidden;
  ConfigReader vision = config.part("vision_config");
  VisionTraits traits;
  traits.hidden = 1152;
  traits.intermediate = 4304;
  traits.layers = 27;
  traits.heads = 16;
  traits.image_size = 384;
  traits.patch = 14;
  const Tower tower = add_vit(vision, traits, "model.visual.vision_model.", network);
  network.stacks.back().groups.front().rotary_share = 1;
  network.stacks.back().groups.front().rotary_casts_first = true;
  const uint64_t merge = vision.size("spatial_merge_size", 2);
  const uint64_t merged = times(tower.hidden, times(merge, merge));
  Stack projector = projector_stack("projector", hidden);
  add_layer_norm(projector.norms, NormPlace::other, tower.hidden);
  add_linear(projector.linears, "model.projector.linear_1", merged, merged, true, Role::other);
  add_linear(projector.linears, "model.projector.linear_2", merged, hidden, true, Role::other);
  network.stacks.push_back(std::move(projector));
  network.image = grid_tokens(tower, merge);
}

}  // namespace plimsoll::model::families
