// What stands between a tower and the text: norms and linears on the image's tokens, outside all layers and
// so outside all checkpoints.
//
//     projector_bytes(make_outline(settings, {}), *settings.stack, recipe, {3 * 576, 2, true});
#pragma once

#include "core/memory/layers/layer.h"
#include "core/recipe/recipe.h"

namespace plimsoll::memory {

struct TowerOutput {
  double rows = 0;         ///< tokens that the text reads
  int size = 2;            ///< bytes an element
  bool needs_grad = true;  ///< something of the tower is trained, or a hook has asked
};

/// Bytes that it keeps for the backward, what the tower gave among them where a norm or a trained weight
/// reads that. A linear that does not read what the one before it gives begins anew from the tower, with a
/// norm of its own where there is one (Qwen3-VL's deepstack mergers).
double projector_bytes(const LayerProgram& outline, const model::Stack& stack, const recipe::Recipe& recipe,
                       const TowerOutput& given);

}  // namespace plimsoll::memory
