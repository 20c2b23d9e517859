// Questions about a model that is served and not trained. No run of it is replayed: the size of the weights and of
// keys and values is said, and no figure of a training run.
//
//     if (asks_of_inference(words, said)) said.inference = true;
//     inference_words(said, catalog);   // "This is about inference, ... the weights alone take 14.96 GiB in bfloat16"
#pragma once

#include <string>

#include "core/question/said_request.h"
#include "core/question/said_words.h"

namespace plimsoll::question {

/// Whether a question names inference or an engine for it, and nothing of a training run.
bool asks_of_inference(const SaidWords& words, const SaidRequest& said);
std::string inference_words(const SaidRequest& said, const run::Catalog& catalog);

}  // namespace plimsoll::question
