// The sentence around a place, and whether a text holds any of some words.
//
//     sentence_around("it is fine. the cpu memory is full. end", 16, 10, 48);   // "the cpu memory is full"
//
// Texts are folded (ASCII in lower case).
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string_view>

namespace plimsoll::diagnosis {

/// What a person says does not go on for longer; what does is a log.
constexpr std::size_t longest_prose = 256U << 10U;

bool says_any(std::string_view text, std::initializer_list<std::string_view> words);

/// "Will it fit", "LoRA of a 7B on a 4090, will it fit?", "能跑吗？": the first words of a question, also behind a
/// last comma or colon.
bool opens_a_question(std::string_view said);

/// What stands around `at` in the same sentence, at most `reach` bytes to either side of the word.
std::string_view sentence_around(std::string_view folded, std::size_t at, std::size_t size,
                                 std::size_t reach);

}  // namespace plimsoll::diagnosis
