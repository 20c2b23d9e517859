#include "core/run/paged.h"

#include <algorithm>

namespace plimsoll::run {

Paged paged_of(const memory::Replay& replay, const memory::Sizes& sizes, double usable) {
  return {replay.sharding.paged, std::clamp(usable - sizes.device, 0.0, replay.sharding.paged)};
}

time::StepTime step_on(const Replayed& run, const memory::Sizes& sizes, double usable,
                       const hardware::Gpu& gpu) {
  time::Work work = time::work_of(run.network, run.recipe, run.known_parameters);
  work.paged_bytes *= paged_of(run.replay, sizes, usable).travelling();
  return time::step_time(work, run.recipe, gpu);
}

}  // namespace plimsoll::run
