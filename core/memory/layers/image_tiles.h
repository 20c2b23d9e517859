// Into how many tiles a processor cuts an image, each of which the tower reads as an image of its own.
//
//     Tiles tiles = tiles_of(internvl.image, {.image_size = 640, .image_height = 480});
//     tiles.images;           // 13: four columns, three rows and the whole image
//     tiles.text_tokens;      // 3328
//
// Sources, Transformers 5.24: models/got_ocr2/image_processing_got_ocr2.py get_optimal_tiled_canvas (InternVL),
// models/lfm2_vl/image_processing_lfm2_vl.py, image_processing_utils.py select_best_resolution and
// models/llava_next/processing_llava_next.py, models/llama4/image_processing_llama4.py get_best_fit,
// models/idefics3/image_processing_idefics3.py, models/minicpmv4_6/image_processing_minicpmv4_6.py get_sliced_grid,
// models/mllama/image_processing_mllama.py. tests/measured/image_tiles.py asks them.
#pragma once

#include "core/model/architecture.h"
#include "core/recipe/recipe.h"

namespace plimsoll::memory {

struct Tiles {
  double pieces = 1;  ///< that the processor makes of an image, the overview among them
  double images = 1;  ///< as many of these does the tower read apart: one where it joins them (Llama 3.2)
  double text_tokens = 0;  ///< of all of them; what cross-attention reads under Rule::cross
};

/// Of one image of the recipe: its pixels, and how many tiles it may become (vision.max_tiles).
Tiles tiles_of(const model::ImageTokens& image, const recipe::Vision& vision);

}  // namespace plimsoll::memory
