// Other machines, and a smaller model, as JSON (core/advice/elsewhere.h).
//
//     write_elsewhere(out, run, catalog, basis, usable);    // [{"id": "larger_gpu", "gpu": "l40s", ...},
//     ...]
#pragma once

#include "core/advice/change.h"
#include "core/json/writer.h"
#include "core/run/run.h"

namespace plimsoll::report {

void write_elsewhere(json::Writer& out, const run::Run& run, const run::Catalog& catalog,
                     const advice::Basis& basis, double usable);

}  // namespace plimsoll::report
