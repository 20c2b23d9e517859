// Where a higher rank, or one more sample or token, can take less memory, and why.
//
//     for (model::Note& note : growth_notes(facts)) notes.push_back(std::move(note));
//
// Nearly always more takes more, and a person may rely on that when a size is searched by hand. A report says
// where a library's own thresholds make it otherwise: `rank_may_take_less` and `size_may_take_less`, each at
// most once.
#pragma once

#include <vector>

#include "core/run/replayed.h"
namespace plimsoll::run {

std::vector<model::Note> growth_notes(const Replayed& facts);

}  // namespace plimsoll::run
