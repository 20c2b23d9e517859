// What the attention of packed rows is given: a mask, or where each sample begins.
//
//     flattens(recipe);                 // TRL: the rows of a batch are one
//     has_packed_mask(recipe, network); // a mask tells the samples of a row apart, or hides the padding at its end
//     runs_varlen(recipe, network);     // Axolotl: a kernel that reads where each sample begins
#pragma once

#include "core/model/architecture.h"
#include "core/recipe/recipe.h"

namespace plimsoll::memory {

bool flattens(const recipe::Recipe& recipe);
bool has_packed_mask(const recipe::Recipe& recipe, const model::Architecture& network);
bool runs_varlen(const recipe::Recipe& recipe, const model::Architecture& network);

}  // namespace plimsoll::memory
