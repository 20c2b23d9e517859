// The lengths of the batches that a run meets one after another, where its samples differ in length.
//
//     for (double tokens : met_lengths(recipe)) ...;     // 310, 190, 480, ..., 2048, ..., 2048
//
// The allocator never gives back what it holds for a shorter batch while it asks for a longer one, so what is
// held at last depends on how the lengths came, not on the longest alone.
#pragma once

#include <vector>

#include "core/recipe/recipe.h"

namespace plimsoll::memory {

/// Empty where every batch is as long as the longest: packed rows, or no mean length that is well below it.
std::vector<double> met_lengths(const recipe::Recipe& recipe);

/// Of a row as the GPU sees it, padding and all, where a mean length is known: the mean over all batches.
double mean_row_length(const recipe::Recipe& recipe);

}  // namespace plimsoll::memory
