// What images bring to the device.
#include "core/memory/layers/images.h"

#include <gtest/gtest.h>

namespace plimsoll::memory {
namespace {

// A Trainer on fake CUDA tensors sent (3072, 1176) fp32 numbers for three images of 448 pixels: Qwen's
// processor repeats a still image, since the patches of its tower are two frames deep.
TEST(Images, QwensProcessorHandsAStillImageOverTwice) {
  model::Architecture network;
  network.image.rule = model::ImageTokens::Rule::grid;
  network.image.patch = 14;
  network.image.merge = 2;
  recipe::Recipe recipe;
  recipe.vision.images_per_sample = 1;
  recipe.vision.image_size = 448;
  EXPECT_EQ(image_load(network, recipe).pixel_bytes, 3 * 448.0 * 448 * 4);
  network.image.frames = 2;
  EXPECT_EQ(3 * image_load(network, recipe).pixel_bytes, 3072.0 * 1176 * 4);
}

}  // namespace
}  // namespace plimsoll::memory
