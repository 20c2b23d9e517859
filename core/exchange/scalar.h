// Plain YAML scalars as PyYAML reads them: YAML 1.1, where 500_000 and 0x10 are numbers, yes and off are
// flags, 010 is eight, 1:30 is ninety, and 2e-5 is a string because its exponent stands without a point.
//
//     exchange::plain_scalar("500_000");   // 500000
//     exchange::plain_scalar("2e-5");      // "2e-5"
//     exchange::meant_number("2e-5");      // 0.00002: what the writer wanted, and trainers cast to
#pragma once

#include <optional>
#include <string_view>

#include "core/json/json.h"

namespace plimsoll::exchange {

/// Source: yaml/pyyaml lib/yaml/resolver.py, constructor.py SafeConstructor.
json::Json plain_scalar(std::string_view text);

/// A number written in any of the ways that people write one; nothing when it is not a number as a whole.
std::optional<json::Json> meant_number(std::string_view text);

/// true, yes, on, 1 and their opposites in any case.
std::optional<bool> meant_flag(std::string_view text);

}  // namespace plimsoll::exchange
