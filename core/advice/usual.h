// The order in which people try things when a run does not fit.
//
//     for (const Fix* fix : usual_order()) ...    // gradient checkpointing first, a lower rank near the end
//
// From the guides that people follow: a smaller batch with accumulation and gradient checkpointing, then
// kernels, then sharding where there are several cards, then the optimizer, then a base of fewer bits
// (Transformers, "Methods and tools for efficient training on a single GPU"); offloading after all of these,
// as each step of it is slower (DeepSpeed's guide in Transformers' documentation); what changes what is
// learned at the very end.
#pragma once

#include <span>

#include "core/advice/fix.h"

namespace plimsoll::advice {

/// Every fix, once.
std::span<const Fix* const> usual_order();
/// Place of a fix in it.
std::size_t usual_place(const Fix& fix);

}  // namespace plimsoll::advice
