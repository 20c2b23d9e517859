// A run on a card: what it takes of it, and whether it fits.
//
//     const Card card = card_of(run);
//     simulated_sizes(card, {network, recipe, replay}).device;     // of the highest instant
//     fits(card, {network, recipe, replay}, card.usable);          // the same answer for less work
#pragma once

#include <limits>
#include <optional>

#include "core/memory/allocator/reserve.h"
#include "core/memory/allocator/sizes.h"

namespace plimsoll::memory {

struct Card {
  Machine machine;
  hardware::Context context;
  Simulator simulator;                                      ///< or none: by the usual reserve
  double usable = std::numeric_limits<double>::infinity();  ///< context and all
};

struct ReplayedRun {
  const model::Architecture& network;
  const recipe::Recipe& recipe;
  const Replay& replay;
  double widening = 1;  ///< of the high ends, where nothing near was measured
};

/// What a card on which so much is usable leaves to PyTorch.
uint64_t capacity_of(const hardware::Context& context, double usable);

/// Of the highest instant: by the usual reserve, and as a report has them.
Sizes usual_sizes(const Card& card, const ReplayedRun& run);
Sizes simulated_sizes(const Card& card, const ReplayedRun& run);

/// As verdict(simulated_sizes(card, run), usable) says; the allocator is simulated as far as that is open.
bool fits(const Card& card, const ReplayedRun& run, double usable);
/// What it holds there, for no more work than that: `needed` may be more than it could do with.
std::optional<Sizes> sizes_that_fit(const Card& card, const ReplayedRun& run, double usable);
Verdict verdict(const Card& card, const ReplayedRun& run, double usable);

}  // namespace plimsoll::memory
