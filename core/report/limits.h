// The largest values that still fit the chosen GPU, as JSON (core/run/limits.h).
//
//     write_limits(out, run, catalog);
//     // {"per_device_train_batch_size", "max_length", "r", "image_size", "model", "costs": {...}, "map":
//     {...}}
#pragma once

#include "core/json/writer.h"
#include "core/run/run.h"

namespace plimsoll::report {

/// Null when no GPU was chosen.
void write_limits(json::Writer& out, const run::Run& run, const run::Catalog& catalog);

}  // namespace plimsoll::report
