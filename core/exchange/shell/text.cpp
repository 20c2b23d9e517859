#include "core/exchange/shell/text.h"

#include <algorithm>

namespace plimsoll::exchange::shell {

Text Text::of(std::string_view script, size_t at, size_t length) {
  Text text;
  for (size_t i = at; i < at + length; ++i) text.push(script[i], {i, 1});
  return text;
}

Text Text::made(std::string characters, Span from) {
  Text text;
  text.from.assign(characters.size(), from);
  text.characters = std::move(characters);
  return text;
}

void Text::push(char c, Span where) {
  characters += c;
  from.push_back(where);
}

Text& Text::operator+=(const Text& other) {
  characters += other.characters;
  from.insert(from.end(), other.from.begin(), other.from.end());
  return *this;
}

Text Text::part(size_t at, size_t length) const {
  Text text;
  at = std::min(at, size());
  length = std::min(length, size() - at);
  text.characters = characters.substr(at, length);
  const auto first = from.begin() + static_cast<std::ptrdiff_t>(at);
  text.from.assign(first, first + static_cast<std::ptrdiff_t>(length));
  return text;
}

std::optional<Span> Text::origin() const {
  if (from.empty()) return std::nullopt;
  Span all = from.front();
  for (size_t i = 1; i < from.size(); ++i) {
    const Span& here = from[i];
    const Span& before = from[i - 1];
    if (here.at == before.at && here.length == before.length) continue;
    if (here.at != before.at + before.length) return std::nullopt;
    all.length = here.at + here.length - all.at;
  }
  return all;
}

}  // namespace plimsoll::exchange::shell
