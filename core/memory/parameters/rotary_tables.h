// Tables of cosines and sines that every layer of older model classes keeps for all positions it could ever
// see.
//
//     rotary_table_bytes(mistral_7b, recipe_with_transformers_4_36);    // 32 layers x 2 x 32768 x 128 x 2 bytes
//
// Buffers, not parameters: nobody counts or saves them, but they lie on the GPU from the start. Newer classes
// compute the angles of a batch when it comes. Source: huggingface/transformers by tag, classes
// *RotaryEmbedding in src/transformers/models/*/modeling_*.py (_set_cos_sin_cache).
#pragma once

#include "core/model/architecture.h"
#include "core/recipe/recipe.h"

namespace plimsoll::memory {

double rotary_table_bytes(const model::Architecture& network, const recipe::Recipe& recipe);

}  // namespace plimsoll::memory
