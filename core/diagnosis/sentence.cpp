#include "core/diagnosis/sentence.h"

#include <algorithm>

namespace plimsoll::diagnosis {

namespace {

constexpr std::string_view stops[] = {"\n", ". ", "; ", "? ", "! ", "。", "；", "？", "！"};

bool is_within(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

}  // namespace

bool says_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

bool opens_a_question(std::string_view said) {
  constexpr std::string_view openers[] = {
      "will ", "can ",   "does ",   "do ",     "is ",   "are ",   "would ",  "could ", "how ", "which ",
      "what ", "whats ", "what's ", "should ", "kann ", "passt ", "reicht ", "welche", "wie "};
  if (said.ends_with("吗？") || said.ends_with("吗?")) return true;
  const std::size_t pause = std::max(said.rfind(", ") + 2, said.rfind(": ") + 2);
  const std::string_view last = said.substr(pause == 1 ? 0 : pause);
  return std::any_of(std::begin(openers), std::end(openers), [&](std::string_view opener) {
    return said.starts_with(opener) || last.starts_with(opener);
  });
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
