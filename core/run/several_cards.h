// The same run on several cards: the samples of a step are shared out, so that the effective batch stays.
//
//     for (const char* strategy : strategies_for(run, 4)) {
//       const auto changes = changes_for_cards(run, 4, strategy, batch);    // nothing: four do not share
//       them evenly
//     }
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/run/run.h"

namespace plimsoll::run {

/// Ways to use so many cards, those that share less first; none where the stack or the request knows one
/// card.
std::vector<std::string> strategies_for(const Run& run, uint64_t cards);

/// Fields to set for `cards` cards with at most `batch` samples on each at a time; nothing where the samples
/// of a step cannot be shared out evenly or a locked field would move.
std::optional<recipe::Values> changes_for_cards(const Run& run, uint64_t cards, const std::string& strategy,
                                                uint64_t batch);

/// By how much less than `cards` times as fast a run on several cards is than on one: 1 would be all of it.
double efficiency_of(const Run& run, const recipe::Recipe& recipe, const hardware::Gpu& gpu);

}  // namespace plimsoll::run
