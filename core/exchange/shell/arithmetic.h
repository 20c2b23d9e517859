// Whole numbers worked out: $((BATCH / (GPUS * 2))).
//
//     whole_number("128 / (GPUS * 2)", [](std::string_view name) { ... "8" ... });    // 8
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace plimsoll::exchange::shell {

/// What a variable holds; nothing where nothing is known of it.
using LookUp = std::function<std::optional<std::string>(std::string_view name)>;

/// + - * / % and parentheses over whole numbers and variables; nothing for all else, and beyond 2^40.
std::optional<int64_t> whole_number(std::string_view text, const LookUp& variable);

/// Whether ((...)) holds: a comparison of two of these, or one that is not 0.
std::optional<bool> holds(std::string_view text, const LookUp& variable);

}  // namespace plimsoll::exchange::shell
