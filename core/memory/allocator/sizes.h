// From live tensors to what a card must have: the readings of one instant, and whether they fit.
//
//     Sizes s = sizes_of(run.at_peak(), recipe, hardware::context(gpu));
//     s.device;                                  // what nvidia-smi shows with room to spare
//     verdict(s, usable) == Verdict::tight;      // the estimate fits, the high end of its band does not
#pragma once

#include "core/hardware/gpu.h"
#include "core/memory/allocator/reserve.h"
#include "core/memory/step/replay.h"

namespace plimsoll::memory {

struct Sizes {
  double allocated = 0, reserved = 0, device = 0;
  double low = 0, high = 0;  ///< band of the device figure
  double needed = 0;         ///< on the device when cached blocks are given back before an allocation fails
};

/// `context`: what driver and kernels hold outside PyTorch's count.
Sizes sizes_of(const Instant& instant, const recipe::Recipe& recipe, const hardware::Context& context);

/// Puts what the simulated allocator holds at that instant in place of the usual shares. Instants outside the
/// unrolled run (evaluation, saving) keep theirs where these are more than what the steps have left cached.
void apply(const SimulatedReserve& simulated, const Instant& instant, const hardware::Context& context,
           Sizes& sizes);

enum class Verdict { fits, tight, no };
Verdict verdict(const Sizes& sizes, double usable);
/// "fits", "tight", "no"
const char* word(Verdict verdict);

/// What is left: of the device figure where that fits, else of what the run needs when cached blocks are
/// given back.
double headroom(const Sizes& sizes, double usable);

}  // namespace plimsoll::memory
