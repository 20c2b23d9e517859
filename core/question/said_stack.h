// The library that a question names: "with axolotl", "in LLaMA-Factory".
#pragma once

#include <string>
#include <string_view>

#include "core/question/said_request.h"

namespace plimsoll::question {

/// Where one alone is named, and nothing is pasted beside it. Of a traceback the package that drives the others:
/// Axolotl's goes through TRL's.
void read_stack(std::string_view folded, const SaidWords& words, SaidRequest& out);

/// Position for position, blanks in place of addresses and of the places of a person's own files: "stable" in
/// pytorch.org/docs/stable is no optimizer, and "/home/me/qlora/train.py" no method.
std::string without_addresses(std::string_view folded);

}  // namespace plimsoll::question
