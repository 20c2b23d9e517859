// The library that a question names: "with axolotl", "in LLaMA-Factory".
#pragma once

#include <string>
#include <string_view>

#include "core/question/said_request.h"

namespace plimsoll::question {

/// Where one alone is named, and nothing is pasted beside it: the frames of a traceback name several, and none says that
/// the library's own defaults were kept.
void read_stack(std::string_view folded, const SaidWords& words, SaidRequest& out);

/// Position for position, blanks in place of addresses and of the places of a person's own files: "stable" in
/// pytorch.org/docs/stable is no optimizer, and "/home/me/qlora/train.py" no method.
std::string without_addresses(std::string_view folded);

}  // namespace plimsoll::question
