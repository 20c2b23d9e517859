#include "core/memory/layers/images.h"

#include <algorithm>
#include <cmath>

#include "core/memory/layers/image_tiles.h"

namespace plimsoll::memory {

ImageLoad image_load(const model::Architecture& network, const recipe::Recipe& recipe) {
  ImageLoad load;
  const model::ImageTokens& image = network.image;
  const auto images = static_cast<double>(recipe.vision.images_per_sample);
  if (image.rule == model::ImageTokens::Rule::none || images == 0) return load;
  const recipe::Vision& v = recipe.vision;
  const auto width = static_cast<double>(v.image_size);
  const auto height = static_cast<double>(v.image_height > 0 ? v.image_height : v.image_size);
  const Tiles tiles = tiles_of(image, v);
  load.towers = images * tiles.images;
  load.tower_tokens = static_cast<double>(image.tower_tokens);
  double text = tiles.text_tokens;
  if (image.cut ==
      model::ImageTokens::Cut::
          joined) {  // rows of eight patches (models/mllama/modeling_mllama.py num_padding_patches)
    load.tower_tokens = std::ceil(load.tower_tokens / 8) * 8 * tiles.pieces;
  }
  if (image.grows() && image.patch > 0) {
    const auto patch = static_cast<double>(image.patch), merge = static_cast<double>(image.merge);
    const auto cells = [&](double side) { return std::max(1.0, std::round(side / (patch * merge))); };
    text = cells(width) * cells(height);
    load.tower_tokens = text * merge * merge;
  }
  if (image.rule == model::ImageTokens::Rule::cross) {
    load.cross_tokens = text * images;
  } else {
    load.text_tokens = text * images;
  }
  // A tower of one size gets what the processor made of the image.
  const auto side = static_cast<double>(image.default_size);
  const bool resized = !image.grows();
  const double pixels = resized && side > 0 ? side * side : width * height;
  load.pixel_bytes = images * tiles.pieces * 3 * pixels * 4;
  if (image.frames > 1) {  // one row a patch (transformers image_processing_qwen2_vl.py flatten_patches)
    const auto patch = static_cast<double>(image.patch), frames = static_cast<double>(image.frames);
    load.pixel_bytes = images * load.tower_tokens * 3 * frames * patch * patch * 4;
  }
  return load;
}

}  // namespace plimsoll::memory
