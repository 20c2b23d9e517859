// How many cards a run needs, where a question asks for it.
//
//     fewest_cards(said, way, catalog);    // " The fewest H100 SXM5 80GB that it fits on, ... are 12: ..."
#pragma once

#include <string>

#include "core/question/answers.h"

namespace plimsoll::question {

/// With the way of sharing that is said, or with ZeRO-3, which divides everything; "" where `said` names no card.
std::string fewest_cards(const SaidRequest& said, const Way& way, const run::Catalog& catalog);

}  // namespace plimsoll::question
