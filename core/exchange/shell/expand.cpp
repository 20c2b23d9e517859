// Words with their quotes taken off and their variables put in.
#include <algorithm>

#include "core/exchange/shell/interpreter.h"

namespace plimsoll::exchange::shell {

namespace {

bool ends_word(char c) { return is_blank(c) || c == '\n'; }

void append(const Text& text, std::vector<Field>& fields) {
  fields.back().text += text;
  fields.back().present = true;
}

// What a variable holds without quotes around it is as many words as it has.
void append_split(const Text& text, std::vector<Field>& fields) {
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && !ends_word(text.characters[end])) ++end;
    if (end > at) append(text.part(at, end - at), fields);
    if (end < text.size() && fields.back().present) {
      fields.emplace_back();
      fields.back().expanded = true;
    }
    at = end + 1;
  }
}

// Behind the double quote that closes; the end of the text where none does.
size_t closing_quote(const std::string& text, size_t at) {
  while (at < text.size() && text[at] != '"') {
    if (text[at] == '\\') {
      ++at;
    } else if (text.compare(at, 2, "$(") == 0) {
      at = behind_brackets(text, at + 2) - 1;
    }
    ++at;
  }
  return std::min(at, text.size());
}

}  // namespace

// Its quotes belong to a value that is written in one place.
Span Interpreter::span_of(const Text& text, Span otherwise) const {
  const std::optional<Span> origin = text.origin();
  if (!origin) return otherwise;
  const size_t end = origin->at + origin->length;
  const bool in_quotes = origin->at > 0 && end < script_.size() && script_[end] == script_[origin->at - 1] &&
                         (script_[end] == '"' || script_[end] == '\'');
  return in_quotes ? Span{origin->at - 1, origin->length + 2} : *origin;
}

size_t Interpreter::put_quoted(const Text& written, size_t at, bool split, std::vector<Field>& fields) {
  const std::string& text = written.characters;
  const char quote = text[at];
  const size_t end =
      quote == '\'' ? std::min(text.find('\'', at + 1), text.size()) : closing_quote(text, at + 1);
  Field& field = fields.back();
  if (!field.present && field.text.empty() && end > at + 1 && text[at + 1] != '$') field.opens_quoted = true;
  field.present = field.quoted = true;
  const Text inside = written.part(at + 1, end - at - 1);
  if (quote == '\'') {
    append(inside, fields);
  } else {
    put(inside, true, split, fields);
  }
  return end + 1;
}

void Interpreter::put(const Text& written, bool in_quotes, bool split, std::vector<Field>& fields) {
  const std::string& text = written.characters;
  size_t at = 0;
  while (at < text.size() && spend(1)) {
    const char c = text[at];
    if (c == '\\' && at + 1 < text.size()) {
      const char next = text[at + 1];
      const bool joins = next == '\n' || next == '\r';
      const bool stays = in_quotes && std::string_view("$`\"\\").find(next) == std::string_view::npos;
      if (!joins) append(written.part(stays ? at : at + 1, stays ? 2 : 1), fields);
      at += text.compare(at + 1, 2, "\r\n") == 0 ? 3 : 2;
    } else if (!in_quotes && (c == '\'' || c == '"')) {
      at = put_quoted(written, at, split, fields);
    } else if (c == '$' || c == '`') {
      Expansion found = expand(written, at);
      fields.back().expanded = true;
      if (!found.known) {
        append(written.part(at, found.end - at), fields);
      } else if (found.several) {
        for (size_t i = 0; i < found.items.size(); ++i) {
          if (i > 0 && split) fields.emplace_back().expanded = true;
          if (i > 0 && !split) append(Text::made(" ", {}), fields);
          append(found.items[i], fields);
        }
        if (found.items.empty() && text.size() == found.end) fields.back().present = false;
      } else if (in_quotes || !split) {
        append(found.items.front(), fields);
      } else {
        append_split(found.items.front(), fields);
      }
      at = found.end;
    } else {
      append(written.part(at, 1), fields);
      ++at;
    }
  }
}

std::vector<Word> Interpreter::words_of(const Text& written) {
  std::vector<Field> fields(1);
  put(written, false, true, fields);
  const Span whole = written.origin().value_or(Span{});
  std::vector<Word> words;
  for (Field& field : fields) {
    if (!field.present) continue;
    Word word;
    word.span = field.expanded ? span_of(field.text, whole) : whole;
    word.quoted = field.quoted;
    word.opens_quoted = field.opens_quoted;
    word.text = std::move(field.text);
    words.push_back(std::move(word));
  }
  return words;
}

Text Interpreter::value_of(const Text& written) {
  std::vector<Field> fields(1);
  put(written, false, false, fields);
  return std::move(fields.front().text);
}

// What a script in $(...) prints.
Text Interpreter::captured(const Text& script, bool& known) {
  const bool was_capturing = capturing_, was_lost = lost_;
  Text was_printed = std::move(printed_);
  printed_ = {};
  capturing_ = true;
  lost_ = false;
  run_text(script);
  if (spend(0)) flow_ = Flow::on;  // exit ends the inner script alone
  known = !lost_;
  Text printed = std::move(printed_);
  while (!printed.empty() && ends_word(printed.characters.back()))
    printed = printed.part(0, printed.size() - 1);
  capturing_ = was_capturing;
  lost_ = was_lost;
  printed_ = std::move(was_printed);
  return printed;
}

}  // namespace plimsoll::exchange::shell
