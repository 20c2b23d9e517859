// A text that knows where each of its characters comes from, so that what a variable holds can be changed where it was
// written.
//
//     Text value = Text::of(script, 6, 4);     // 'gpt2' of MODEL='gpt2'
//     Text word = Text::of(script, 30, 6);     // --name
//     word += value;
//     word.origin();                           // nothing: it was not written in one place
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/exchange/tree.h"

namespace plimsoll::exchange::shell {

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

struct Text {
  std::string characters;
  std::vector<Span> from;  ///< of each character

  static Text of(std::string_view script, size_t at, size_t length);
  /// Of what was worked out: all its characters come from there.
  static Text made(std::string characters, Span from);

  bool empty() const { return characters.empty(); }
  size_t size() const { return characters.size(); }
  void push(char c, Span where);
  Text& operator+=(const Text& other);
  Text part(size_t at, size_t length = std::string::npos) const;
  /// Where it was written, if in one place.
  std::optional<Span> origin() const;
};

}  // namespace plimsoll::exchange::shell
