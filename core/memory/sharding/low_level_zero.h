// ZeRO as ColossalAI's LowLevelZeroPlugin does it, which differs from DeepSpeed's in what stays on the GPU.
//
//     Sharding s = ...;                              // weights and adapters are there
//     low_level_zero(network, recipe, trained, s);
//     s.gradients;                                   // 16-bit partition, on the GPU even when the states are not
//
// Source: hpcaitech/ColossalAI v0.4.0 colossalai/zero/low_level/low_level_optim.py (step, _run_reduction,
// _compute_grad_norm), bookkeeping/bucket_store.py (build_grad_in_bucket), bookkeeping/gradient_store.py.
#pragma once

#include "core/memory/sharding/sharding.h"

namespace plimsoll::memory {

/// Bytes of everything trained, of all ranks together.
struct TrainedSizes {
  double made = 0;               ///< gradients in the type that the layers make
  double fp32 = 0;               ///< master weights
  double states = 0, paged = 0;  ///< of the optimizer
  double temporary = 0;          ///< of its step
  double largest = 0;            ///< the largest gradient, in the type that the layers make
  int size = 2;                  ///< bytes of an element of it
};

void low_level_zero(const model::Architecture& network, const recipe::Recipe& recipe, const TrainedSizes& of,
                    Sharding& s);

}  // namespace plimsoll::memory
