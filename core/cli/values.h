// Values of our own reports, as a table prints them.
//
//     number(at(report, "peak"))     // 0 where there is none
#pragma once

#include <string>

#include "core/json/json.h"

namespace plimsoll::cli {

/// A report as a tree; null for what is no JSON.
inline json::Json parsed(const std::string& text) {
  json::Errors errors;
  return json::parse(text, errors).value_or(json::Json());
}

/// The string, or nothing.
inline std::string text(const json::Json& value) {
  json::Errors ignored;
  return value.is_string() ? json::read_text(value, "", ignored).value_or("") : "";
}

/// Any value in words; "-" for none.
inline std::string words(const json::Json& value) {
  if (value.is_null()) return "-";
  return value.is_string() ? text(value) : json::write(value);
}

/// The number, or 0.
inline double number(const json::Json& value) {
  json::Errors ignored;
  return json::read_number(value, "", {-9007199254740992.0, 9007199254740992.0}, ignored).value_or(0);
}

}  // namespace plimsoll::cli
