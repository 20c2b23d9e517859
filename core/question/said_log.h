// What a trainer prints of its settings when it starts, before anything fails.
//
//     read_log(split("number of trainable parameters = 41,943,040"), catalog, out);    // adapters, of an 8B
//
// Batch and accumulation are read with all other numbers.
#pragma once

#include "core/question/said_request.h"
#include "core/question/said_words.h"

namespace plimsoll::question {

/// Only what nothing else of the text says.
void read_log(const SaidWords& words, const run::Catalog& catalog, SaidRequest& out);

}  // namespace plimsoll::question
