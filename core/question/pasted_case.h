// A pasted text as a case: the run that it tells of, as far as it does.
//
//     PastedCase one;
//     read_case(text, request, "", catalog, one);
//     one.situation;        // what diagnosis asks
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnosis/facts.h"
#include "core/question/said_request.h"
#include "core/run/run.h"
#include "core/run/usual.h"

namespace plimsoll::question {

/// What a diagnosis is made from; keeps alive what `situation` points to. Not to be moved.
struct PastedCase {
  std::optional<run::Run> run;  ///< of the whole run on one card
  recipe::Request given;
  model::Architecture network;     ///< when the model is known but the run is not
  json::Errors errors;             ///< of the request
  recipe::Values versions;         ///< of libraries that the text says and the request does not
  SaidRequest said;                ///< what the text says of the run
  std::string found_request;       ///< made from that, when no request was given
  std::vector<run::Choice> usual;  ///< what nobody trains without and the text leaves open; of the run alone
  /// Pointers that the replay cannot do and that were left out for the estimate.
  std::vector<std::string> left_out;
  diagnosis::Situation situation;
};
void read_case(std::string_view text, std::string_view request, std::string_view phase,
               const run::Catalog& catalog, PastedCase& out);
/// Takes one more choice as usual, and replays the run so.
void assume(run::Choice choice, const run::Catalog& catalog, PastedCase& one);

}  // namespace plimsoll::question
