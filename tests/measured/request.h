// From a record to a request of the public contract.
//
//     Draft draft = draft_request(record, rules);
//     if (draft.refused.empty()) report::report_text(json::write(request_of(draft)), catalog);
#pragma once

#include <vector>

#include "core/run/catalog.h"
#include "tests/measured/record.h"
#include "tests/measured/rules.h"

namespace plimsoll::accuracy {

/// What the record states as a value (batch, length, rank, targets, GPUs) and what the rules read from its
/// words.
Draft draft_request(const Record& record, const std::vector<Rule>& rules);

/// The values as one nested object.
json::Json request_of(const Draft& draft);

}  // namespace plimsoll::accuracy
