// Commands of trainers that are known and not replayed: see refused.cpp, where each is one row.
#pragma once

#include <string_view>
#include <vector>

#include "core/exchange/format.h"

namespace plimsoll::exchange {

extern const Format mistral_finetune;
extern const Format xtuner;

/// The format that refuses a command in words, by the words that start a program and by the keys of its
/// overrides; null when it is none of these.
const Format* refused_program(const std::vector<std::string_view>& started, const Node& root);

}  // namespace plimsoll::exchange
