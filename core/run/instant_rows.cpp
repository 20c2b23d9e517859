#include "core/run/instant_rows.h"

#include "core/memory/step/evaluation.h"

namespace plimsoll::run {

std::vector<ComponentRow> rows_of(const memory::Instant& instant, const Run& run) {
  const memory::Sizes s = sizes_of(instant, run);
  const recipe::Recipe evaluated = memory::evaluation_recipe(run.resolved.recipe);
  const recipe::Recipe& recipe = instant.phase == memory::Phase::eval ? evaluated : run.resolved.recipe;
  std::vector<ComponentRow> rows = component_rows(instant.live, {run.network, recipe, run.replay});
  rows.push_back({"allocator_slack", s.reserved - s.allocated,
                  "Memory that PyTorch's allocator holds but has given to no tensor.",
                  run.simulated
                      ? "every allocation and release of two steps, fed to the allocator's own rules"
                      : "a share of what is made and freed during a step; it comes back when memory "
                        "runs short",
                  "pytorch c10/cuda/CUDACachingAllocator.cpp; published runs that recorded both figures"});
  if (instant.outside > 0) {
    rows.push_back({"engine_overhead", instant.outside,
                    "What vLLM holds outside PyTorch's count, asleep too: workspaces of its libraries.",
                    "measured: 723 MiB on an A100, 687 MiB on an L4",
                    "AgileRL/AgileRL agilerl/memory/formulas.py ENGINE_PROCESS_OVERHEAD_BYTES"});
  }
  rows.push_back({"cuda_context", static_cast<double>(run.context.typical),
                  run.replay.sharding.ranks > 1
                      ? "Driver, kernels and NCCL's buffers, outside PyTorch's count."
                      : "Driver and kernels, outside PyTorch's count.",
                  "measured, by GPU generation", run.context.source});
  return rows;
}

}  // namespace plimsoll::run
