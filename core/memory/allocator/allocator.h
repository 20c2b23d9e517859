// What PyTorch's caching allocator holds beyond what is allocated, and what the process needs at least.
//
//     UsualReserve held = usual_reserve(peak.live, peak.apart, expandable);
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

struct UsualReserve {
  double reserved = 0;  ///< expected with room to spare
  double reserved_high = 0;
  double needed = 0;  ///< reserved when cached segments are returned
};

/// `expandable`: PYTORCH_CUDA_ALLOC_CONF has expandable_segments:True.
UsualReserve usual_reserve(const Snapshot& live, double apart, bool expandable);

}  // namespace plimsoll::memory
