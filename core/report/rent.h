// Which machine to rent: every offer with a price of the seller's own, its cards shared out in every way, the
// recipe as it is or with one change.
//
//     write_rent(out, run, catalog);    // {"cheapest", "unchanged", "fastest", "machines": [...],
//     "notebooks": [...]}
//
// Every kind of card takes replays of its own, so that only a request that wants "rent" is answered. The one
// change is the first in the usual order (core/advice/usual.h) that fits and that published comparisons
// cannot tell apart. A notebook service, which chooses the card itself and ends the session, is listed last
// and leads nothing.
#pragma once

#include "core/json/writer.h"
#include "core/run/run.h"

namespace plimsoll::report {

void write_rent(json::Writer& out, const run::Run& run, const run::Catalog& catalog);

}  // namespace plimsoll::report
