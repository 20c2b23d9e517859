// The largest values that still fit the chosen GPU, everything else unchanged, and what one more costs.
//
//     write_limits(out, run, catalog);
//     // {"per_device_train_batch_size", "max_length", "r", "image_size", "model", "costs": {...}, "map":
//     {...}}
#pragma once

#include "core/json/writer.h"
#include "core/report/run.h"

namespace plimsoll::report {

/// Null when no GPU was chosen. A limit is null where not even 1 fits, or where the field means nothing.
void write_limits(json::Writer& out, const Run& run, const Catalog& catalog);

}  // namespace plimsoll::report
