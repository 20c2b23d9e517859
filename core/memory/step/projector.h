// What stands between a tower and the text: norms and linears on the image's tokens, outside all layers and
// so outside all checkpoints.
//
//     Stage stage = projected(plan, settings);     // of a stack without layers
//     stage.stem;                                  // what it keeps for the backward
#pragma once

#include "core/memory/step/step.h"

namespace plimsoll::memory {

/// A linear that does not read what the one before it gives begins anew from the tower, with a norm of its
/// own where there is one (Qwen3-VL's deepstack mergers). What the tower gave is kept where a norm or a
/// trained weight reads it.
Stage projected(const Plan& plan, const PassSettings& settings);

}  // namespace plimsoll::memory
