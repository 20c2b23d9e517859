#include "core/exchange/scalar.h"

#include <cmath>
#include <cstdlib>
#include <string>

#include "core/json/ascii.h"

namespace plimsoll::exchange {

namespace {

using ascii::is_digit;
using ascii::lower;

using json::Json;

std::string without(std::string_view text, char removed) {
  std::string out;
  for (char c : text) {
    if (c != removed) out += c;
  }
  return out;
}

// YAML 1.1 knows a word in lower case, with a capital, and in capitals; "nO" is a string.
bool is_word(std::string_view text, std::string_view word) {
  if (text.size() != word.size() || lower(text) != word) return false;
  bool first = false, rest_upper = true, rest_lower = true;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool upper = text[i] >= 'A' && text[i] <= 'Z';
    if (i == 0) first = upper;
    if (i > 0) (upper ? rest_lower : rest_upper) = false;
  }
  return rest_lower || (first && rest_upper);
}

bool all_of(std::string_view text, std::string_view allowed) {
  if (text.empty()) return false;
  for (char c : text) {
    if (allowed.find(c) == std::string_view::npos) return false;
  }
  return true;
}

// Digits in a base; larger than 64 bits becomes a double.
Json whole(const std::string& digits, int base, bool negative) {
  if (digits.empty()) return nullptr;
  double approximate = 0;
  uint64_t exact = 0;
  for (char c : digits) {
    const int digit = is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10;
    approximate = approximate * base + digit;
    exact = exact * static_cast<uint64_t>(base) + static_cast<uint64_t>(digit);
  }
  if (approximate > 9.2e18) {
    if (base == 10) approximate = std::strtod(digits.c_str(), nullptr);
    return negative ? -approximate : approximate;
  }
  if (negative) return -static_cast<int64_t>(exact);
  return exact;
}

// "1:30:00" counts in sixties.
std::optional<Json> sexagesimal(std::string_view text, bool negative) {
  if (text.empty() || !is_digit(text[0]) || text[0] == '0') return std::nullopt;
  uint64_t total = 0, part = 0, parts = 0, digits = 0;
  for (char c : text) {
    if (c == '_') continue;
    if (c == ':') {
      if (digits == 0) return std::nullopt;
      total = (total + part) * 60;
      part = digits = 0;
      ++parts;
    } else if (is_digit(c)) {
      part = part * 10 + static_cast<uint64_t>(c - '0');
      ++digits;
      if (parts > 0 && (digits > 2 || part > 59)) return std::nullopt;
      if (digits > 9) return std::nullopt;
    } else {
      return std::nullopt;
    }
  }
  if (parts == 0 || parts > 4 || digits == 0) return std::nullopt;
  const auto value = static_cast<int64_t>(total + part);
  return negative ? Json(-value) : Json(static_cast<uint64_t>(value));
}

std::optional<Json> integer(std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text.empty()) return std::nullopt;
  if (text.size() > 2 && text[0] == '0' && text[1] == 'b' && all_of(text.substr(2), "01_"))
    return whole(without(text.substr(2), '_'), 2, negative);
  if (text.size() > 2 && text[0] == '0' && text[1] == 'x' &&
      all_of(text.substr(2), "0123456789abcdefABCDEF_"))
    return whole(without(text.substr(2), '_'), 16, negative);
  if (text.size() > 1 && text[0] == '0' && all_of(text.substr(1), "01234567_"))
    return whole(without(text, '_'), 8, negative);
  if (is_digit(text[0]) && (text[0] != '0' || text.size() == 1) && all_of(text, "0123456789_"))
    return whole(without(text, '_'), 10, negative);
  return sexagesimal(text, negative);
}

// strtod would follow the locale, but the core sets none: it is always "C".
double to_double(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

// [-+]?([0-9][0-9_]*)\.[0-9_]*([eE][-+][0-9]+)?  or  [-+]?\.[0-9][0-9_]*([eE][-+][0-9]+)?
bool is_float(std::string_view text, bool need_point, bool need_sign) {
  size_t i = 0;
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
  const size_t start = i;
  while (i < text.size() && (is_digit(text[i]) || (text[i] == '_' && i > start))) ++i;
  const bool whole_part = i > start;
  size_t fraction = 0;
  const bool point = i < text.size() && text[i] == '.';
  if (point) {
    ++i;
    while (i < text.size() && (is_digit(text[i]) || text[i] == '_')) ++i, ++fraction;
  }
  if (!whole_part && fraction == 0) return false;
  if (need_point && (!point || (!whole_part && start > 0))) return false;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) {
      ++i;
    } else if (need_sign) {
      return false;
    }
    const size_t digits = i;
    while (i < text.size() && is_digit(text[i])) ++i;
    if (i == digits) return false;
  }
  return i == text.size();
}

}  // namespace

Json plain_scalar(std::string_view text) {
  if (text.empty() || text == "~" || is_word(text, "null")) return nullptr;
  for (std::string_view word : {"yes", "true", "on"}) {
    if (is_word(text, word)) return true;
  }
  for (std::string_view word : {"no", "false", "off"}) {
    if (is_word(text, word)) return false;
  }
  if (const auto number = integer(text)) return *number;
  if (is_float(text, true, true)) return to_double(without(text, '_'));
  return std::string(text);
}

std::optional<Json> meant_number(std::string_view text) {
  if (const auto number = integer(text)) return number;
  if (!is_float(text, false, false)) return std::nullopt;
  const double value = to_double(without(text, '_'));
  if (!std::isfinite(value)) return std::nullopt;
  return Json(value);
}

std::optional<bool> meant_flag(std::string_view text) {
  const std::string word = lower(text);
  for (std::string_view yes : {"true", "yes", "on", "1", "y", "t"}) {
    if (word == yes) return true;
  }
  for (std::string_view no : {"false", "no", "off", "0", "n", "f"}) {
    if (word == no) return false;
  }
  return std::nullopt;
}

}  // namespace plimsoll::exchange
