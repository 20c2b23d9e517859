// Where the states of a paged optimizer are, and what that costs.
//
//     const Paged paged = paged_of(replay, sizes, usable);
//     paged.on_card;          // of them, beside everything else at the peak
//     paged.travelling();     // share that crosses PCIe at every step
//
// CUDA's managed memory stays on the card while there is room, and gives way to what PyTorch allocates
// (bitsandbytes docs, optimizers, "Paged optimizers"). A verdict does not count it; nvidia-smi does.
#pragma once

#include "core/memory/allocator/sizes.h"
#include "core/run/replayed.h"
#include "core/time/step.h"

namespace plimsoll::run {

struct Paged {
  double bytes = 0, on_card = 0;
  double travelling() const { return bytes > 0 ? 1 - on_card / bytes : 0; }
};

Paged paged_of(const memory::Replay& replay, const memory::Sizes& sizes, double usable);

/// How long a step takes on a card that leaves `usable` to a run of these sizes.
time::StepTime step_on(const Replayed& run, const memory::Sizes& sizes, double usable,
                       const hardware::Gpu& gpu);

}  // namespace plimsoll::run
