// What PyTorch's caching allocator holds beyond what is allocated, and what the process needs at least.
//
//     Passing passing;
//     for (const Instant& instant : step) passing.add(instant.live);
//     Held held = hold(peak.live, passing.apart(), expandable);
//     held.reserved;    // torch.cuda.max_memory_reserved() when there is room
//     held.needed;      // what still works when cached blocks are given back before an allocation fails
//
// The allocator asks the driver for segments, splits them, and keeps what is freed; it returns whole free
// segments only when an allocation would fail otherwise (pytorch/pytorch c10/cuda/CUDACachingAllocator.cpp).
// So a run dies when `needed` does not fit, not when `reserved` does not. The closed form of what reserve.h
// simulates.
#pragma once

#include "core/memory/tape/tape.h"

namespace plimsoll::memory {

struct Held {
  double reserved = 0;  ///< expected with room to spare
  double reserved_high = 0;
  double needed = 0;  ///< reserved when cached segments are returned
};

/// The instants of a step, one after another.
struct Passing {
  Snapshot most;       ///< of each component, at its own highest instant
  double highest = 0;  ///< of their sum
  void add(const Snapshot& live);
  /// Bytes that the components would need beside the highest instant if none could use what another freed.
  double apart() const;
};

/// `expandable`: PYTORCH_CUDA_ALLOC_CONF has expandable_segments:True.
Held hold(const Snapshot& live, double apart, bool expandable);

}  // namespace plimsoll::memory
