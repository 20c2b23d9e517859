// The cards that a few sentences speak of, and how many: "two 3090s or one A100 80GB".
//
//     SaidRequest said;
//     read_cards(clean("Will it fit on 4x L40S?"), catalog, said);
//     said.cards;    // {{l40s, 4}}
#pragma once

#include "core/diagnosis/text.h"
#include "core/question/said_request.h"

namespace plimsoll::question {

/// The cards that a name of one may mean, the usual one first: "h100", "NVIDIA A100 80GB PCIe" as
/// nvidia-smi prints it. Empty where a word of it belongs to none of them.
std::vector<const hardware::Gpu*> cards_called(std::string_view name, const run::Catalog& catalog);

/// The one card that a name means, an id among them; null where it is none, or several, or a slice of one.
const hardware::Gpu* card_called(std::string_view name, const run::Catalog& catalog);

/// Of several cards all are kept, as they are weighed against each other; one alone is a field.
void read_cards(const diagnosis::Text& text, const run::Catalog& catalog, SaidRequest& out);

}  // namespace plimsoll::question
