// How many cards a run needs, where a question asks for it.
//
//     fewest_cards(said, gpu, way, catalog);    // " The fewest H100 SXM5 80GB that it fits on, ... are 12: ..."
#pragma once

#include <string>

#include "core/question/answers.h"

namespace plimsoll::question {

/// Of a card that `said` names and `way` was priced on, with the way of sharing that is said, or with ZeRO-3, which divides
/// everything.
std::string fewest_cards(const SaidRequest& said, const hardware::Gpu& gpu, const Way& way,
                         const run::Catalog& catalog);

}  // namespace plimsoll::question
