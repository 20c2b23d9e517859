// Which linears GaLore and APOLLO project: what optim_target_modules means in a network.
//
//     find_projected(network, recipe, errors);                              // ["attn", "mlp"]
//     projected_share("model.layers.#.mlp.up_proj", recipe);                // 1: in all of its layers
#pragma once

#include "core/json/json.h"
#include "core/model/architecture.h"
#include "core/recipe/recipe.h"

namespace plimsoll::memory {

/// Fills training.projected, unless it is there. Error: unknown_value where Transformers finds none.
void find_projected(const model::Architecture& network, recipe::Recipe& recipe, json::Errors& errors);
/// Of the layers that have the linear at this path, those in which it is projected; 0: none.
double projected_share(const std::string& path, const recipe::Recipe& recipe);

}  // namespace plimsoll::memory
