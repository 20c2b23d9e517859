#include "core/memory/allocator.h"

#include <algorithm>

namespace plimsoll::memory {

namespace {

// Shares of the dynamic part (what is allocated and freed during a step) that stays reserved but unallocated at the
// peak. Native: traces of three worked runs fed to the allocator's rules give 0.46 - 0.95 of it, most where the
// dynamic part is small; expandable segments 0.17 (long-sequence QLoRA).
struct Share {
  double usual, high, kept;
};
constexpr Share native{0.35, 0.60, 0.08};
constexpr Share expandable_segments{0.12, 0.25, 0.05};
constexpr double smallest = 20.0 * 1048576;  // one large segment is always partly empty

}  // namespace

Held hold(double allocated, double dynamic, bool expandable) {
  const Share& share = expandable ? expandable_segments : native;
  Held held;
  held.reserved = allocated + std::max(smallest, share.usual * dynamic);
  held.reserved_high = allocated + std::max(2 * smallest, share.high * dynamic);
  held.needed = allocated + std::max(smallest, share.kept * dynamic);
  return held;
}

}  // namespace plimsoll::memory
