#include "core/memory/allocator/sizes.h"

#include <algorithm>
#include <optional>

#include "core/memory/allocator/allocator.h"
#include "core/memory/allocator/caching_allocator.h"

namespace plimsoll::memory {

namespace {

bool expandable(const recipe::Recipe& r) {
  return read_allocator_settings(r.hardware.cuda_alloc_conf).expandable_segments;
}

}  // namespace

Sizes sizes_of(const Instant& instant, const recipe::Recipe& recipe, const hardware::Context& context) {
  const double allocated = instant.live.total();
  UsualReserve held = usual_reserve(instant.live, instant.apart, expandable(recipe));
  held.reserved += instant.gathered_before;
  held.reserved_high = std::max(held.reserved_high, held.reserved);
  Sizes s;
  s.allocated = allocated;
  s.reserved = held.reserved;
  s.device = held.reserved + instant.outside + static_cast<double>(context.typical);
  s.low = allocated + instant.outside + static_cast<double>(context.low);
  s.high = held.reserved_high + instant.outside + static_cast<double>(context.high);
  s.needed = held.needed + instant.outside + static_cast<double>(context.typical);
  const double outside = instant.outside + static_cast<double>(context.high);
  const bool known = simulates(recipe);
  s.enough = known ? std::min(s.high, held.needed * margins_of(recipe).sure + outside) : s.high;
  return s;
}

void apply(const SimulatedReserve& simulated, const Instant& instant, const hardware::Context& context,
           Sizes& sizes) {
  const bool traced = in_trace(instant.phase);
  if (!traced && !instant.has_states) return;
  const double typical = instant.outside + static_cast<double>(context.typical);
  const auto at = [&](const Reserve& reserve) {
    const uint64_t held =
        traced ? reserve.by_phase[static_cast<std::size_t>(instant.phase)] : reserve.reserved;
    return std::max(sizes.allocated, static_cast<double>(held));
  };
  // Of a pass between two steps the list knows nothing: what the steps have cached is there besides.
  const double own = traced ? 0 : sizes.reserved;
  const double roomy = std::max(own, at(simulated.roomy));
  // A card that is full makes the allocator give back what it does not use. A run that dies there has the
  // figures that it would have with room to spare.
  const bool gives_back = simulated.pressed && !simulated.on_card.died;
  sizes.reserved = gives_back ? std::min(roomy, std::max(own, at(simulated.on_card))) : roomy;
  sizes.device = sizes.reserved + typical;
  if (traced) {
    // Two estimates that do not know of each other: a run is only called impossible where both say so.
    const double needed = std::max(sizes.allocated, static_cast<double>(simulated.needed)) + typical;
    sizes.needed = std::min({sizes.device, needed, sizes.needed});
  }
  sizes.low = std::min(sizes.low, sizes.needed);
  const double outside = instant.outside + static_cast<double>(context.high);
  sizes.high = roomy * simulated.margins.most + outside;
  if (simulated.pressed && simulated.on_card.died) {
    sizes.enough = sizes.high;
  } else if (traced) {
    const double least = std::max(sizes.allocated, static_cast<double>(simulated.needed));
    sizes.enough = std::min(sizes.enough, least * simulated.margins.sure + outside);
  }
}

void widen(Sizes& sizes, double widening, double usable) {
  sizes.high *= widening;
  sizes.enough *= widening;
  if (sizes.enough <= usable) sizes.high = std::min(sizes.high, std::max(sizes.device, usable));
}

Verdict verdict(const Sizes& sizes, double usable) {
  if (sizes.enough <= usable) return Verdict::fits;
  return sizes.needed <= usable ? Verdict::tight : Verdict::no;
}

const char* word(Verdict verdict) {
  if (verdict == Verdict::fits) return "fits";
  return verdict == Verdict::tight ? "tight" : "no";
}

double headroom(const Sizes& sizes, double usable) {
  return usable - (sizes.device <= usable ? sizes.device : sizes.needed);
}

}  // namespace plimsoll::memory
