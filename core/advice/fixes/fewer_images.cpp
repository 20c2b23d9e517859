#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> levels(const Situation& s) {
  std::vector<Level> found;
  int cost = quality::visible;
  for (uint64_t images = s.recipe.vision.images_per_sample / 2; images >= 1 && found.size() < 3;
       images /= 2) {
    found.push_back({{{"/vision/images_per_sample", images}}, cost++});
  }
  return found;
}

constexpr Setting settings[] = {
    {"*", "at most {images_per_sample} images a sample in the data set"},
};

}  // namespace

const Fix fewer_images = {"fewer_images",
                          "Fewer images a sample",
                          "images",
                          Kind::scale,
                          Needs::nothing,
                          "a new run",
                          "Each image is a pass through the tower and hundreds of tokens in the text part.",
                          "Other data is seen.",
                          "huggingface/transformers processors",
                          levels,
                          settings};

}  // namespace plimsoll::advice
