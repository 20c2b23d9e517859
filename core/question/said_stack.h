// The library that a question names: "with axolotl", "in LLaMA-Factory".
#pragma once

#include "core/question/said_request.h"

namespace plimsoll::question {

/// Where one alone is named, and nothing is pasted beside it: the frames of a traceback name several.
void read_stack(const SaidWords& words, SaidRequest& out);

}  // namespace plimsoll::question
