#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> fewer_images_levels(const FixContext& s) {
  std::vector<Level> found;
  int cost = quality::visible;
  for (uint64_t images = s.recipe.vision.images_per_sample / 2; images >= 1 && found.size() < 3;
       images /= 2) {
    found.push_back({{{"/vision/images_per_sample", images}}, cost++});
  }
  return found;
}

constexpr Setting fewer_images_settings[] = {
    {"*", "at most {images_per_sample} images a sample in the data set"},
};

}  // namespace

const Fix fewer_images = {
    .id = "fewer_images",
    .title = "Fewer images a sample",
    .slot = "images",
    .kind = FixKind::scale,
    .effort = "a new run",
    .why = "Each image is a pass through the tower and hundreds of tokens in the text part.",
    .evidence = "Other data is seen.",
    .source = "huggingface/transformers processors",
    .levels = fewer_images_levels,
    .settings = fewer_images_settings,
};

}  // namespace plimsoll::advice
