// Lists of words in one text, as tables hold them:
//
//     is_listed("trl", "hf trl axolotl")     // true
#pragma once

#include <algorithm>
#include <string_view>

namespace plimsoll::json {

/// Whether a word is among those of a list with single spaces between them.
inline bool is_listed(std::string_view word, std::string_view words) {
  while (!words.empty()) {
    const std::string_view first = words.substr(0, words.find(' '));
    if (first == word) return !word.empty();
    words.remove_prefix(std::min(words.size(), first.size() + 1));
  }
  return false;
}

}  // namespace plimsoll::json
