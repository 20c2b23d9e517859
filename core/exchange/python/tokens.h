// Python source as tokens: names, numbers, strings, signs, ends of lines. Comments, lines for the shell
// and the frames of a traceback are left out.
//
//     for (const PythonToken& token : python_tokens("lr = 2e-4  # high"))   // lr, =, 2e-4, end
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/exchange/tree.h"

namespace plimsoll::exchange {

struct PythonToken {
  enum class Type : uint8_t { name, number, text, sign, line, end };
  Type type = Type::end;
  std::string text;  ///< a string without its quotes
  Span span;
  bool formatted = false;  ///< an f-string
};

/// The last one is the end.
std::vector<PythonToken> python_tokens(std::string_view text);

inline bool name_ends_with(std::string_view name, std::string_view tail) {
  return name.size() >= tail.size() && name.substr(name.size() - tail.size()) == tail;
}

}  // namespace plimsoll::exchange
