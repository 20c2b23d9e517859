// A pasted failure, and the request it belongs to if there is one, to a diagnosis.
//
//     std::string answer = report::diagnosis_text("CUDA out of memory. Tried to allocate 224.00 MiB ...",
//                                                 R"({"model": "mistral-7b-v0.3"})", "", catalog);
//
// The request may be half a one: what can be read of it is used, and what is wrong stands in
// "request_errors".
#pragma once

#include <string>
#include <string_view>

#include "core/run/catalog.h"

namespace plimsoll::report {

/// The diagnosis as JSON text, compact. `request` may be empty; `phase` is what the person says of the moment
/// ("load", "forward", "loss", "backward", "optimizer", "eval", "save", "generate", "merge") or empty, or
/// what they answered to "question": "when=save others=yes". Never fails:
/// {"schema", "core", "ok", "errors", "request_errors", "messages", "numbers", "cards", "phase", "tensors",
/// "sizes", "causes", "vetoed", "question", "replay", "said", "answers", "run", "request", "adjusted",
/// "plans", "blocked", "remedies"}; "request" is the one to make plans for: as given, with the card, the
/// foreign memory and the versions of libraries that the text shows; "said" is what the text alone says of
/// the run. A question about a model that is served is answered in "summary" alone, with "inference": true and nothing
/// of a run. "ok" is false when no message of lacking memory was found and no question of a known model.
std::string diagnosis_text(std::string_view text, std::string_view request, std::string_view phase,
                           const run::Catalog& catalog);

}  // namespace plimsoll::report
