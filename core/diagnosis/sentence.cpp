#include "core/diagnosis/sentence.h"

#include <algorithm>

namespace plimsoll::diagnosis {

namespace {

constexpr std::string_view stops[] = {"\n", ". ", "; ", "? ", "! ", "。", "；", "？", "！"};

bool is_within(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

}  // namespace

bool says_any(std::string_view text, SaidWords words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

std::string_view sentence_around(std::string_view folded, std::size_t at, std::size_t size,
                                 std::size_t reach) {
  std::size_t begin = at > reach ? at - reach : 0;
  while (begin < at && is_within(folded[begin])) ++begin;
  for (const std::string_view stop : stops) {
    const std::size_t found = folded.substr(begin, at - begin).rfind(stop);
    if (found != std::string_view::npos) begin += found + stop.size();
  }
  std::string_view rest = folded.substr(at + size, reach);
  for (const std::string_view stop : stops) rest = rest.substr(0, rest.find(stop));
  return folded.substr(begin, at + size + rest.size() - begin);
}

}  // namespace plimsoll::diagnosis
