// The cards that a few sentences speak of, and how many: "two 3090s or one A100 80GB".
//
//     SaidRequest said;
//     read_cards(clean("Will it fit on 4x L40S?"), catalog, said);
//     said.cards;    // {{l40s, 4}}
#pragma once

#include "core/diagnosis/text.h"
#include "core/question/said_request.h"

namespace plimsoll::question {

/// Of several cards all are kept, as they are weighed against each other; one alone is a field.
void read_cards(const diagnosis::Text& text, const run::Catalog& catalog, SaidRequest& out);

}  // namespace plimsoll::question
