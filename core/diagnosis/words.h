// Many words looked for in one pass, so that a hostile text costs no more than its length.
//
//     for (const Place& found : find_words(text.folded_lines, words)) words[found.word] ...
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "core/diagnosis/counted_text.h"

namespace plimsoll::diagnosis {

struct Place {
  std::size_t at = 0;
  std::size_t word = 0;  ///< index into the list
};

/// Every place where one of the words begins, in order of place; at most `most` of each word. Words have four
/// bytes or more.
std::vector<Place> find_words(CountedText text, std::span<const std::string_view> words,
                              std::size_t most = 400);

}  // namespace plimsoll::diagnosis
