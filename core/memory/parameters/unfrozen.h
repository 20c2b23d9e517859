// Full fine-tuning of the parameters that regular expressions name (Spectrum; Axolotl's unfrozen_parameters).
//
//     run.network = with_unfrozen(network, {"^lm_head.weight$", "model.layers.3.mlp.down_proj"}, 0, errors);
#pragma once

#include <string>
#include <vector>

#include "core/json/json.h"
#include "core/model/architecture.h"

namespace plimsoll::memory {

/// Freezes every parameter whose name no pattern matches, from its beginning on; a dot is a dot
/// (axolotl-ai-cloud/axolotl src/axolotl/utils/freeze.py freeze_layers_except). The last layers are trained
/// whole.
model::Architecture with_unfrozen(model::Architecture network, const std::vector<std::string>& patterns,
                                  uint64_t last_layers, json::Errors& errors);

}  // namespace plimsoll::memory
