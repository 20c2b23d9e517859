// What a run takes on its card, and on cards of other sizes.
#include "core/recipe/tasks.h"
#include "core/run/run.h"

namespace plimsoll::run {

memory::Sizes sizes_of(const memory::Instant& instant, const Run& run) {
  memory::Sizes sizes = memory::sizes_of(instant, run.resolved.recipe, run.context);
  if (run.simulated) memory::apply(*run.simulated, instant, run.context, sizes);
  memory::widen(sizes, run.widening, usable_on_card(run));
  return sizes;
}

memory::Sizes sizes_with_room(const Run& run) {
  if (!run.simulated) return sizes_at_peak(run);
  memory::SimulatedReserve roomy = *run.simulated;
  roomy.pressed = false;
  memory::Sizes sizes = memory::sizes_of(run.replay.at_peak(), run.resolved.recipe, run.context);
  memory::apply(roomy, run.replay.at_peak(), run.context, sizes);
  memory::widen(sizes, run.widening, usable_on_card(run));
  return sizes;
}

memory::Sizes sizes_at_peak(const Run& run) { return sizes_of(run.replay.at_peak(), run); }

memory::Sizes sizes_on(const Run& run, const hardware::Tier& tier) {
  memory::Sizes sizes = sizes_with_room(run);
  const recipe::Recipe& r = run.resolved.recipe;
  if (!recipe::task_of(r).online || !r.rl.colocates_vllm()) return sizes;
  memory::Machine machine = run.machine;
  machine.total_bytes = static_cast<double>(tier.usable_bytes);
  const memory::Replay there = memory::replay(run.network, r, machine);
  const double more = there.at_peak().live.total() - run.replay.at_peak().live.total();
  for (double* size : {&sizes.allocated, &sizes.reserved, &sizes.device, &sizes.low, &sizes.high,
                       &sizes.needed, &sizes.enough})
    *size += more;
  return sizes;
}

}  // namespace plimsoll::run
