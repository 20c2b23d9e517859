#include "core/memory/allocator/card.h"

#include <algorithm>
#include <optional>

namespace plimsoll::memory {

namespace {

// What is known without simulating: of 920 published and measured requests the simulated allocator wants 1.13 times as
// much as the usual reserve at the 99th percentile, 1.54 times at most.
std::optional<Verdict> known_by(const Sizes& usual, double usable) {
  constexpr double surely = 1.6;
  if (usual.allocated > usable) return Verdict::no;
  if (usual.enough * surely <= usable) return Verdict::fits;
  return std::nullopt;
}

// So much may be reserved that it is enough (apply, widen), whatever else is found.
uint64_t sufficient(const Card& card, const ReplayedRun& run, const Sizes& usual, double usable) {
  if (usual.enough <= usable) return capacity_of(card.context, usable);
  const Instant& peak = run.replay.at_peak();
  const double outside = peak.outside + static_cast<double>(card.context.high);
  const double most = (usable / run.widening - outside) / margins_of(run.recipe).sure - 1;
  return most < usual.allocated ? 0
                                : std::min(capacity_of(card.context, usable), static_cast<uint64_t>(most));
}

SimulatedReserve asked(const Card& card, const ReplayedRun& run, const ReserveQuestion& question) {
  return card.simulator(run.network, run.recipe, card.machine, question);
}

bool is_simulated(const Card& card, const ReplayedRun& run) {
  return card.simulator && simulates(run.recipe, run.replay);
}

// Where the usual reserve needs more.
bool needs_at_most(const Card& card, const ReplayedRun& run, double usable) {
  const Instant& peak = run.replay.at_peak();
  if (!is_simulated(card, run) || !in_trace(peak.phase)) return false;
  // Before the first step less is held than is needed in all.
  if (peak.phase < Phase::forward) {
    Card there = card;
    there.usable = usable;
    return simulated_sizes(there, run).needed <= usable;
  }
  const double most = usable - peak.outside - static_cast<double>(card.context.typical);
  if (most < peak.live.total()) return false;
  const auto suffices = static_cast<uint64_t>(most);
  using Asked = ReserveQuestion::Asked;
  return asked(card, run,
               {.capacity = capacity_of(card.context, usable), .asked = Asked::needed, .suffices = suffices})
             .needed <= suffices;
}

}  // namespace

uint64_t capacity_of(const hardware::Context& context, double usable) {
  const double left = usable - static_cast<double>(context.typical);
  if (left >= 18446744073709551616.0) return UINT64_MAX;
  return left > 0 ? static_cast<uint64_t>(left) : 0;
}

Sizes usual_sizes(const Card& card, const ReplayedRun& run) {
  Sizes sizes = sizes_of(run.replay.at_peak(), run.recipe, card.context);
  widen(sizes, run.widening, card.usable);
  return sizes;
}

Sizes simulated_sizes(const Card& card, const ReplayedRun& run) {
  const Instant& peak = run.replay.at_peak();
  Sizes sizes = sizes_of(peak, run.recipe, card.context);
  if (is_simulated(card, run))
    apply(asked(card, run, {.capacity = capacity_of(card.context, card.usable)}), peak, card.context, sizes);
  widen(sizes, run.widening, card.usable);
  return sizes;
}

bool fits(const Card& card, const ReplayedRun& run, double usable) {
  const Sizes usual = usual_sizes(card, run);
  if (const std::optional<Verdict> known = known_by(usual, usable)) return *known == Verdict::fits;
  // Between steps the simulated allocator never makes a run need less.
  if (!in_trace(run.replay.at_peak().phase) && usual.enough > usable) return false;
  if (!is_simulated(card, run)) return usual.enough <= usable;
  const uint64_t suffices = sufficient(card, run, usual, usable);
  using Asked = ReserveQuestion::Asked;
  const SimulatedReserve held = asked(
      card, run, {.capacity = capacity_of(card.context, usable), .asked = Asked::fits, .suffices = suffices});
  return !(held.pressed && held.on_card.died) && held.needed <= suffices;
}

std::optional<Sizes> sizes_that_fit(const Card& card, const ReplayedRun& run, double usable) {
  const Sizes usual = usual_sizes(card, run);
  const std::optional<Verdict> known = known_by(usual, usable);
  if (known == Verdict::no) return std::nullopt;
  if (!is_simulated(card, run)) return usual.enough <= usable ? std::optional<Sizes>(usual) : std::nullopt;
  const Instant& peak = run.replay.at_peak();
  if (!known && !in_trace(peak.phase) && usual.enough > usable) return std::nullopt;
  const uint64_t capacity = capacity_of(card.context, usable);
  const uint64_t suffices = known ? capacity : sufficient(card, run, usual, usable);
  const SimulatedReserve held =
      asked(card, run, {.capacity = capacity, .asked = ReserveQuestion::Asked::held, .suffices = suffices});
  if ((held.pressed && held.on_card.died) || held.needed > suffices) return std::nullopt;
  Sizes sizes = sizes_of(peak, run.recipe, card.context);
  apply(held, peak, card.context, sizes);
  sizes.enough = std::min(sizes.enough, usable / run.widening);
  widen(sizes, run.widening, usable);
  return sizes;
}

Verdict verdict(const Card& card, const ReplayedRun& run, double usable) {
  const Sizes usual = usual_sizes(card, run);
  if (const std::optional<Verdict> known = known_by(usual, usable)) return *known;
  if (fits(card, run, usable)) return Verdict::fits;
  if (usual.needed <= usable) return Verdict::tight;
  return needs_at_most(card, run, usable) ? Verdict::tight : Verdict::no;
}

}  // namespace plimsoll::memory
