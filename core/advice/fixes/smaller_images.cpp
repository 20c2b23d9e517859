#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> smaller_images_levels(const FixContext& s) {
  std::vector<Level> found;
  const recipe::Vision& v = s.recipe.vision;
  if (!s.network.image.grows() || v.images_per_sample == 0) return found;
  const uint64_t pixels = v.image_size * (v.image_height > 0 ? v.image_height : v.image_size);
  int cost = quality::visible;
  const uint64_t step = s.network.image.patch * s.network.image.merge;
  for (uint64_t size : {448u, 336u, 224u}) {
    const uint64_t whole = step == 0 ? size : size / step * step;
    if (whole == 0 || whole * whole >= pixels) continue;
    recipe::Values changes = {{"/vision/image_size", whole}};
    if (v.image_height > 0) changes["/vision/image_height"] = whole;
    found.push_back({std::move(changes), cost++});
  }
  return found;
}

constexpr Setting smaller_images_settings[] = {
    {"hf trl unsloth loop agilerl colossalai",
     "AutoProcessor.from_pretrained(..., max_pixels={image_size} * {image_size})"},
    {"axolotl", "image_size: {image_size}"},
    {"llamafactory", "image_max_pixels: {image_size^2}"},
    {"ms-swift", "MAX_PIXELS={image_size^2}"},
};

}  // namespace

const Fix smaller_images = {
    .id = "smaller_images",
    .title = "Smaller images",
    .slot = "image_size",
    .kind = FixKind::scale,
    .effort = "one setting",
    .why = "The tower and, in models whose image tokens grow with the image, the text part see fewer tokens.",
    .evidence = "Fine print and small objects are lost.",
    .source = "huggingface/transformers image processors",
    .levels = smaller_images_levels,
    .settings = smaller_images_settings,
};

}  // namespace plimsoll::advice
