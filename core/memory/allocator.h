// What PyTorch's caching allocator holds beyond what is allocated, and what the process needs at least.
//
//     Held held = hold(peak_bytes, peak_bytes - weight_bytes, expandable);
//     held.reserved;    // torch.cuda.max_memory_reserved() when there is room
//     held.needed;      // what still works when cached blocks are given back before an allocation fails
//
// The allocator asks the driver for segments, splits them, and keeps what is freed; it returns whole free
// segments only when an allocation would fail otherwise (pytorch/pytorch c10/cuda/CUDACachingAllocator.cpp).
// So a run dies when `needed` does not fit, not when `reserved` does not.
#pragma once

namespace plimsoll::memory {

struct Held {
  double rounding = 0;  ///< part of `allocated`: blocks are larger than the tensors in them
  double reserved = 0;  ///< expected with room to spare
  double reserved_high = 0;
  double needed = 0;  ///< reserved when cached segments are returned
};

/// `allocated`: bytes of live tensors at the peak; `dynamic`: what of it is not base weights, which lie
/// still. `expandable`: PYTORCH_CUDA_ALLOC_CONF has expandable_segments:True.
Held hold(double allocated, double dynamic, bool expandable);

}  // namespace plimsoll::memory
