// The answer to a question about a model that is served: what is known of it in words, and no figure of a training run.
#pragma once

#include <string>

#include "core/diagnosis/diagnosis.h"
#include "core/question/said_request.h"

namespace plimsoll::report {

/// As `diagnosis_text` answers, with "inference": true; nothing in it is a request or a cause.
std::string inference_text(const question::SaidRequest& said, const diagnosis::Diagnosis& read,
                           const run::Catalog& catalog);

}  // namespace plimsoll::report
