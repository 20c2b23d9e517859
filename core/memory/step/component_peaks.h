// What the instants of a step hold one after another and cannot share.
//
//     ComponentPeaks peaks;
//     for (const Instant& instant : step) peaks.add(instant.live);
//     peaks.apart();     // 0 where one instant has the most of every component
#pragma once

#include <algorithm>

#include "core/memory/tape/tape.h"

namespace plimsoll::memory {

struct ComponentPeaks {
  Snapshot most;       ///< of each component, at its own highest instant
  double highest = 0;  ///< of their sum

  void add(const Snapshot& live) {
    for (std::size_t i = 0; i < component_count; ++i) most.bytes[i] = std::max(most.bytes[i], live.bytes[i]);
    highest = std::max(highest, live.total());
  }
  /// Bytes that the components would need beside the highest instant if none could use what another freed.
  double apart() const { return std::max(0.0, most.total() - highest); }
};

}  // namespace plimsoll::memory
