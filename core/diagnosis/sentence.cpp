#include "core/diagnosis/sentence.h"

#include <algorithm>

#include "core/diagnosis/text.h"
#include "core/json/ascii.h"

namespace plimsoll::diagnosis {

namespace {

constexpr std::string_view stops[] = {"\n", ". ", "; ", "? ", "! ", "。", "；", "？", "！"};
constexpr std::size_t most_places = 200, longest_place = 100;

bool is_within(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

// "ram" is no part of "program", nor "gpu" of "gpus"'s beginning; Chinese has no blanks.
bool begins_a_word(std::string_view folded, std::size_t at) {
  return at == 0 || !ascii::is_lower(folded[at]) || !ascii::is_lower(folded[at - 1]);
}

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

std::string said_together(std::string_view folded, SaidWords things, SaidWords verbs, std::size_t reach,
                          SaidWords unless) {
  folded = folded.substr(0, longest_prose);
  for (const std::string_view thing : things) {
    std::size_t places = 0;
    for (std::size_t at = folded.find(thing); at != std::string_view::npos && places < most_places;
         at = folded.find(thing, at + thing.size())) {
      ++places;
      if (!begins_a_word(folded, at) || in_setting(folded, at)) continue;
      const std::string_view said = sentence_around(folded, at, thing.size(), reach);
      if (says_any(said, verbs) && !says_any(said, unless)) return first_bytes(said, longest_place);
    }
  }
  return "";
}

}  // namespace plimsoll::diagnosis
