// The letters of ASCII, whatever the locale: what a character of a pasted text is.
//
//     lower("NVIDIA A10G")                 // "nvidia a10g"
//     trim("  bf16: true\r\n")             // "bf16: true"
#pragma once

#include <string>
#include <string_view>

namespace plimsoll::ascii {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
inline bool is_letter(char c) { return is_lower(c) || (c >= 'A' && c <= 'Z'); }
inline bool is_alnum(char c) { return is_letter(c) || is_digit(c); }
/// A letter, a digit or an underscore: what a name consists of in Python, and \w in a pattern.
inline bool is_word(char c) { return is_alnum(c) || c == '_'; }

inline char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
inline std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower(c);
  return out;
}

/// Without the blanks and line ends on both sides.
inline std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  while (!text.empty() && blanks.find(text.front()) != std::string_view::npos) text.remove_prefix(1);
  while (!text.empty() && blanks.find(text.back()) != std::string_view::npos) text.remove_suffix(1);
  return text;
}

}  // namespace plimsoll::ascii
