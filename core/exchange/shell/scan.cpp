// Where a word of the shell ends: quotes, brackets and braces.
#include <algorithm>

#include "core/exchange/shell/program.h"
#include "core/json/ascii.h"

namespace plimsoll::exchange::shell {

namespace {

// Behind the quote that the one at `at` - 1 opens; `at` when nothing closes it.
size_t behind_quotes(std::string_view text, size_t at, char quote) {
  for (size_t i = at; i < text.size(); ++i) {
    if (text[i] == '\\' && quote != '\'') {
      ++i;
    } else if (text[i] == quote) {
      return i + 1;
    }
  }
  return at;
}

}  // namespace

bool is_sign(char c) { return std::string_view(";|&()<>\n").find(c) != std::string_view::npos; }

size_t behind_placeholder(std::string_view text, size_t at) {
  if (text[at] != '<' || at + 1 >= text.size() || !ascii::is_letter(text[at + 1])) return at;
  constexpr size_t longest = 60;
  const size_t length = text.substr(at + 1, longest).find_first_of("><\n;|&");
  return length != std::string_view::npos && text[at + 1 + length] == '>' ? at + length + 2 : at;
}

size_t behind_braces(std::string_view text, size_t at) {
  constexpr size_t longest = 1000;
  const size_t last = std::min(text.size(), at + longest);
  int depth = 1;
  for (; at < last; ++at) {
    depth += text[at] == '{' ? 1 : (text[at] == '}' ? -1 : 0);
    if (depth == 0) return at + 1;
  }
  return 0;
}

size_t behind_brackets(std::string_view text, size_t at) {
  int depth = 1;
  while (at < text.size() && depth > 0) {
    const char c = text[at++];
    if (c == '\\') {
      ++at;
    } else if (c == '\'' || c == '"') {
      at = behind_quotes(text, at, c);
    } else if (c == '#' && at > 1 && (is_blank(text[at - 2]) || text[at - 2] == '\n')) {
      at = std::min(text.find('\n', at), text.size());  // a comment between the items of a list
    } else {
      depth += c == '(' ? 1 : (c == ')' ? -1 : 0);
    }
  }
  return std::min(at, text.size());
}

Text take_word(const Text& script, size_t& at) {
  const std::string& text = script.characters;
  const size_t begin = at;
  while (at < text.size()) {
    const char c = text[at];
    if (is_blank(c) || c == '\n') break;
    if (c == '\\') {
      const bool joins = at + 1 < text.size() && (text[at + 1] == '\n' || text[at + 1] == '\r');
      if (joins && (at == begin || at + 2 >= text.size() || is_blank(text[at + 2]) || text[at + 2] == '\n'))
        break;
      at = std::min(at + 2, text.size());
    } else if (c == '\'' || c == '"' || c == '`') {
      at = behind_quotes(text, at + 1, c);
    } else if (c == '(' && at > begin && (text[at - 1] == '$' || text[at - 1] == '=')) {
      at = behind_brackets(text, at + 1);  // $(...), $((...)), NAME=(...)
    } else if (c == '$' && at + 1 < text.size() && text[at + 1] == '{') {
      const size_t end = behind_braces(text, at + 2);
      at = end == 0 ? at + 2 : end;
    } else if (c == '<' && behind_placeholder(text, at) != at) {
      at = behind_placeholder(text, at);
    } else if (is_sign(c)) {
      break;
    } else {
      ++at;
    }
  }
  return script.part(begin, at - begin);
}

}  // namespace plimsoll::exchange::shell
