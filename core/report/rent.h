// Which machine to rent, as JSON (core/advice/rent.h).
//
//     write_rent(out, run, catalog);
//     // {"cheapest", "unchanged", "fastest", "machines": [...], "notebooks": [...]}
//
// It takes many replays, so that only a request that wants "rent" is answered.
#pragma once

#include "core/json/writer.h"
#include "core/run/run.h"

namespace plimsoll::report {

/// Null where the card is locked.
void write_rent(json::Writer& out, const run::Run& run, const run::Catalog& catalog);

}  // namespace plimsoll::report
