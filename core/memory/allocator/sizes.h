// From live tensors to what a card must have: the readings of one instant, and whether they fit.
//
//     Sizes s = sizes_of(run.at_peak(), recipe, hardware::context(gpu));
//     s.device;                                  // what nvidia-smi shows with room to spare
//     verdict(s, usable) == Verdict::tight;      // the estimate fits; that it is enough is not sure
#pragma once

#include "core/hardware/gpu.h"
#include "core/memory/allocator/reserve.h"
#include "core/memory/step/replay.h"

namespace plimsoll::memory {

struct Sizes {
  double allocated = 0, reserved = 0, device = 0;
  double low = 0, high = 0;  ///< band of the device figure
  double needed = 0;         ///< on the device when cached blocks are given back before an allocation fails
  double enough = 0;         ///< the high end of that: a card with as much runs it, whatever it would cache
};

/// `context`: what driver and kernels hold outside PyTorch's count.
Sizes sizes_of(const Instant& instant, const recipe::Recipe& recipe, const hardware::Context& context);

/// Puts what the simulated allocator holds at that instant in place of the usual shares. Instants outside the
/// unrolled run (evaluation, saving) keep theirs where these are more than what the steps have left cached.
void apply(const SimulatedReserve& simulated, const Instant& instant, const hardware::Context& context,
           Sizes& sizes);

/// Widens the high ends, where nothing near was measured. On a card with enough the device figure ends where the
/// card does: what PyTorch would cache beyond that is given back.
void widen(Sizes& sizes, double widening, double usable);

enum class Verdict { fits, tight, no };
Verdict verdict(const Sizes& sizes, double usable);
/// "fits", "tight", "no"
const char* word(Verdict verdict);

/// What is left: of the device figure where that fits, else of what the run needs when cached blocks are
/// given back.
double headroom(const Sizes& sizes, double usable);

}  // namespace plimsoll::memory
