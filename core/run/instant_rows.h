// The whole breakdown of an instant: what lives in tensors, and what the allocator, vLLM and the driver hold
// beside them. The rows add up to what nvidia-smi shows.
//
//     for (const memory::Instant& instant : run.replay.instants)
//       for (const ComponentRow& row : rows_of(instant, run)) print(row.id, row.bytes);
#pragma once

#include <vector>

#include "core/run/components.h"
#include "core/run/run.h"

namespace plimsoll::run {

std::vector<ComponentRow> rows_of(const memory::Instant& instant, const Run& run);

}  // namespace plimsoll::run
