// The scored runs as the evidence that reports name: presets/evidence/runs.json.
//
//     plimsoll_accuracy --evidence tests/measured/runs.json > presets/evidence/runs.json
#pragma once

#include <string>

#include "tests/measured/score.h"

namespace plimsoll::accuracy {

/// {"about", "runs": [{"id", "source", "stack", "method", "parameters", "transformers", "allocated", ...}]}
std::string evidence(const std::vector<Run>& runs, const run::Catalog& catalog);

}  // namespace plimsoll::accuracy
