// Which linears a regular expression of target_modules means, and "all-linear" where a stack lists the names; and
// those of optim_target_modules (projected.h).
//
//     expand_targets(network, recipe, errors);
//     recipe.peft.target_modules;   // {"model.layers.#.self_attn.q_proj", ...}: full paths, # for any layer
#pragma once

#include "core/json/json.h"
#include "core/model/architecture.h"
#include "core/recipe/recipe.h"

namespace plimsoll::memory {

/// Replaces a pattern by the paths that it matches, and "all-linear" by names where the recipe says so.
/// Errors: unknown_value when nothing matches, unsupported when it picks some layers of a kind and leaves
/// others.
void expand_targets(const model::Architecture& network, recipe::Recipe& recipe, json::Errors& errors);
/// The same for a recipe beside one that was expanded on this network: an expression is tried on the name of
/// every module, and a search for plans asks for thousands of recipes.
void expand_targets(const model::Architecture& network, const recipe::Recipe& known, recipe::Recipe& recipe,
                    json::Errors& errors);

}  // namespace plimsoll::memory
