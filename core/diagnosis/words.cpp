#include "core/diagnosis/words.h"

#include <cstdint>

namespace plimsoll::diagnosis {

namespace {

constexpr std::size_t slots = 4096;

std::size_t slot_of(CountedText text, std::size_t at) {
  uint32_t four = 0;
  for (std::size_t i = 0; i < 4; ++i) four = (four << 8U) | static_cast<unsigned char>(text[at + i]);
  return (four * 2654435761U) >> 20U;
}

}  // namespace

std::vector<Place> find_words(CountedText text, std::span<const std::string_view> words, std::size_t most) {
  std::vector<std::vector<std::size_t>> table(slots);
  for (std::size_t word = 0; word < words.size(); ++word) {
    if (words[word].size() >= 4) table[slot_of(words[word], 0)].push_back(word);
  }
  std::vector<std::size_t> count(words.size());
  std::vector<Place> out;
  for (std::size_t at = 0; at + 4 <= text.size(); ++at) {
    for (const std::size_t word : table[slot_of(text, at)]) {
      if (count[word] >= most || !text.substr(at).starts_with(words[word])) continue;
      ++count[word];
      out.push_back({at, word});
    }
  }
  return out;
}

}  // namespace plimsoll::diagnosis
