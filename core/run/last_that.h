// The largest number for which something holds that holds of all below it.
//
//     last_that(1, 65, [&](uint64_t batch) { return fits(batch); });   // 24: 25 and all above it do not fit
#pragma once

#include <cstdint>

namespace plimsoll::run {

/// From `low` on, of which it is known to hold, and below `high`.
template <class Holds>
uint64_t last_that(uint64_t low, uint64_t high, const Holds& holds) {
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    (holds(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace plimsoll::run
