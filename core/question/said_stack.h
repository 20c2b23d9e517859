// The library that a question names: "with axolotl", "in LLaMA-Factory".
#pragma once

#include <string>
#include <string_view>

#include "core/question/said_request.h"
#include "core/question/said_words.h"

namespace plimsoll::question {

/// Where one alone is named, and nothing is pasted beside it: the frames of a traceback name several, and none says that
/// the library's own defaults were kept.
void read_stack(std::string_view folded, const SaidWords& words, SaidRequest& out);

}  // namespace plimsoll::question
