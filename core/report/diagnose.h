// A pasted failure, and the request it belongs to if there is one, to a diagnosis.
//
//     std::string answer = report::diagnosis_text("CUDA out of memory. Tried to allocate 224.00 MiB ...",
//                                                 R"({"model": "mistral-7b-v0.3"})", "", catalog);
//
// The request may be half a one: what can be read of it is used, and what is wrong stands in
// "request_errors".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/diagnosis/facts.h"
#include "core/report/said_request.h"
#include "core/run/catalog.h"
#include "core/run/run.h"

namespace plimsoll::report {

/// The diagnosis as JSON text, compact. `request` may be empty; `phase` is what the person says of the moment
/// ("load", "forward", "loss", "backward", "optimizer", "eval", "save", "generate", "merge") or empty, or
/// what they answered to "question": "when=save others=yes". Never fails:
/// {"schema", "core", "ok", "errors", "request_errors", "messages", "numbers", "cards", "phase", "tensors",
/// "sizes", "causes", "vetoed", "question", "replay", "said", "answers", "run", "request", "adjusted",
/// "plans", "blocked", "remedies"}; "request" is the one to make plans for: as given, with the card, the
/// foreign memory and the versions of libraries that the text shows; "said" is what the text alone says of
/// the run. "ok" is false when no message of lacking memory was found and no question of a known model.
std::string diagnosis_text(std::string_view text, std::string_view request, std::string_view phase,
                           const run::Catalog& catalog);

/// What a diagnosis is made from; keeps alive what `situation` points to. Not to be moved.
struct PastedCase {
  std::optional<run::Run> run;  ///< of the whole run on one card
  recipe::Request given;
  model::Architecture network;  ///< when the model is known but the run is not
  json::Errors errors;          ///< of the request
  recipe::Values versions;      ///< of libraries that the text says and the request does not
  SaidRequest said;             ///< what the text says of the run
  std::string found_request;    ///< made from that, when no request was given
  /// Pointers that the replay cannot do and that were left out for the estimate.
  std::vector<std::string> left_out;
  diagnosis::Situation situation;
};
void read_case(std::string_view text, std::string_view request, std::string_view phase,
               const run::Catalog& catalog, PastedCase& out);

}  // namespace plimsoll::report
