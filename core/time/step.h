// How long a step takes on a GPU: a roofline over the counted work.
//
//     StepTime t = step_time(work_of(network, recipe), recipe, gpu);
//     t.seconds;                    // of one optimizer step, all micro-batches
//     t.low, t.high;                // the band: published runs lie in it (docs/time.md)
//
// Multiplications run at a share of what large matrices reach on the card, everything else at a share of its
// memory bandwidth, and neither starts sooner than Python launches it.
#pragma once

#include "core/hardware/gpu.h"
#include "core/time/work.h"

namespace plimsoll::time {

/// Parts of one optimizer step, in seconds.
struct StepTime {
  double seconds = 0, low = 0, high = 0;
  double multiply = 0, attention = 0, move = 0, unpack = 0, optimizer = 0;
  double generate = 0;  ///< completions, as long as they may be
  double launch = 0;    ///< the least that Python needs; counts only when it is more than the GPU's time
  bool launch_bound = false;  ///< the GPU waits for Python
  double tokens_per_second = 0;
  bool known = false;  ///< false: nobody has published the card's rates
};

StepTime step_time(const Work& work, const recipe::Recipe& recipe, const hardware::Gpu& gpu);

}  // namespace plimsoll::time
