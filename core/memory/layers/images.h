// What images add: tokens in the text, patches in the tower, pixels on the device.
//
//     ImageLoad load = image_load(network, recipe);
//     load.text_tokens;       // 576 for LLaVA-1.5: part of max_length, not on top of it
#pragma once

#include "core/model/architecture.h"
#include "core/recipe/recipe.h"

namespace plimsoll::memory {

struct ImageLoad {
  double towers = 0;        ///< images (or tiles) a sample that the tower reads
  double tower_tokens = 0;  ///< patches of one of them
  double text_tokens = 0;   ///< tokens a sample in the text sequence
  double cross_tokens = 0;  ///< states a sample that cross-attention reads
  double pixel_bytes = 0;   ///< fp32 pixels a sample, as the processor hands them over
};

/// All zero for a model without a tower or a recipe without images.
ImageLoad image_load(const model::Architecture& network, const recipe::Recipe& recipe);

}  // namespace plimsoll::memory
