// A thing and what is said of it, in one sentence and not far apart, in either order: people say the same in
// many ways, which no list of whole phrases holds.
//
//     said_together("insufficient cpu memory", {"cpu memory"}, {"insufficient", "ran out"});   // the words
//
// Texts are folded (ASCII in lower case). The work is bounded: of each word the first 200 places are read, of
// a text the first 256 KiB.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace plimsoll::diagnosis {

/// What a person says does not go on for longer; what does is a log.
constexpr std::size_t longest_prose = 256U << 10U;

using SaidWords = std::initializer_list<std::string_view>;

bool says_any(std::string_view text, SaidWords words);

/// What stands around `at` in the same sentence, at most `reach` bytes to either side of the word.
std::string_view sentence_around(std::string_view folded, std::size_t at, std::size_t size,
                                 std::size_t reach);

/// The first words that name one of `things` with one of `verbs` within `reach` bytes, settings aside, and
/// none of `unless`; "" nowhere.
std::string said_together(std::string_view folded, SaidWords things, SaidWords verbs, std::size_t reach = 48,
                          SaidWords unless = {});

}  // namespace plimsoll::diagnosis
