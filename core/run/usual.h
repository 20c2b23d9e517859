// What nobody trains without, where a person has only said what runs on which card: bf16 where the card has
// it, a micro-batch of 1, adapters on all linear layers, scores from an encoder. A question, the command line and the
// form of the page take these rows; a request file means what it says.
//
//     for (const Choice& one : usual_choices(request, catalog)) put(request, one.pointer, one.value);
//
// A trainer's own defaults (fp32, a micro-batch of 8, two of the projections) would answer for a person who
// was not asked. A request that names its stack has that stack's.
#pragma once

#include <vector>

#include "core/json/json.h"
#include "core/run/catalog.h"
#include "core/run/choice.h"

namespace plimsoll::run {

/// What `request` leaves open of them.
std::vector<Choice> usual_choices(const json::Json& request, const Catalog& catalog);

}  // namespace plimsoll::run
