// The report's "time": step, hours, cost, disk, and the machines that could run it.
//
//     write_time(out, run, catalog);      // {"gpu", "seconds_per_step", ..., "machines": [...]}
#pragma once

#include "core/json/writer.h"
#include "core/run/run.h"

namespace plimsoll::report {

/// Null when no GPU was chosen and no machines were asked for.
void write_time(json::Writer& out, const run::Run& run, const run::Catalog& catalog);

}  // namespace plimsoll::report
