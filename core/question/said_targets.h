// On which modules adapters lie, in the words of a sentence: "LoRA on q_proj and v_proj only", "attention only".
#pragma once

#include "core/question/said_request.h"
#include "core/question/said_words.h"
#include "core/run/catalog.h"

namespace plimsoll::question {

/// Names of the model's own modules, where the text names the model and adapters are trained.
void read_targets(std::string_view folded, const SaidWords& words, const run::Catalog& catalog,
                  SaidRequest& out);

}  // namespace plimsoll::question
