// The image encoders that several vision-language families share.
//
//     ConfigReader vision = config.part("vision_config");
//     const Tower tower = add_tower(vision, "clip_vision_model", "model.vision_tower.", network);
//     network.image = fixed_tokens(tower, tower.patches);
#pragma once

#include <string>
#include <string_view>

#include "core/model/builders.h"

namespace plimsoll::model {

/// What the projector and the token rule need to know of a tower that was added.
struct Tower {
  uint64_t hidden = 0;
  uint64_t patch = 0;
  uint64_t image_size = 0;
  uint64_t patches = 0;       ///< (image_size / patch)^2
  uint64_t class_tokens = 0;  ///< 1 where the tower prepends one
};

/// What a ViT is made of; families with a tower of their own fill it themselves.
struct VisionTraits {
  uint64_t hidden = 768, intermediate = 3072, layers = 12, heads = 12, image_size = 224, patch = 16;
  std::string_view hidden_key = "hidden_size", activation = "gelu_pytorch_tanh";
  bool class_token = false, patch_bias = true, pre_norm = false, post_norm = true, positions = true;
};
Tower read_tower_shape(ConfigReader& vision, const VisionTraits& traits, LayerGroup& group,
                       Architecture& network);
/// A CLIP-shaped encoder: q_proj, k_proj, v_proj, out_proj, fc1, fc2 under `base`encoder.layers.
Tower add_vit(ConfigReader& vision, const VisionTraits& traits, const std::string& base,
              Architecture& network);

/// The tower that vision_config.model_type names: CLIP, SigLIP or Pixtral.
Tower add_tower(ConfigReader& vision, std::string_view fallback_type, const std::string& path,
                Architecture& network);
/// CLIP ViT-L/14 at 336 pixels, for configs that name it without its sizes.
VisionTraits clip_large_336();

/// (side / patch)^2; an error when the image is smaller than a patch.
uint64_t patch_count(ConfigReader& vision, uint64_t image_size, uint64_t patch);

ImageTokens fixed_tokens(const Tower& tower, uint64_t tokens);
ImageTokens grid_tokens(const Tower& tower, uint64_t merge);

/// A stack of linears between tower and text.
Stack projector_stack(const std::string& name, uint64_t hidden);

}  // namespace plimsoll::model
