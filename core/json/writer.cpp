#include "core/json/writer.h"

#include <algorithm>
#include <charconv>

#include "core/json/utf8.h"

namespace plimsoll::json {

namespace {

template <typename Number>
void append_number(std::string& text, Number number) {
  char digits[24];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), number).ptr;
  text.append(digits, end);
}

bool is_plain(char c) {
  const auto code = static_cast<unsigned char>(c);
  return code >= 0x20 && code < 0x80 && c != '"' && c != '\\';
}

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

void append_escaped(std::string& text, char c) {
  constexpr char hex[] = "0123456789abcdef";
  const auto code = static_cast<unsigned char>(c);
  text += '\\';
  if (code >= 0x20) {
    text += c;
  } else if (c == '\n' || c == '\t') {
    text += c == '\n' ? 'n' : 't';
  } else {
    text += "u00";
    text += hex[code >> 4];
    text += hex[code & 15];
  }
}

}  // namespace

void Writer::separate() {
  if (!first_) text_ += ',';
  first_ = false;
}

void Writer::open(char bracket) {
  separate();
  text_ += bracket;
  first_ = true;
}

void Writer::close(char bracket) {
  text_ += bracket;
  first_ = false;
}

void Writer::key(std::string_view name) {
  separate();
  text_ += '"';
  text_ += name;
  text_ += "\":";
  first_ = true;  // what follows belongs to the key
}

void Writer::value(std::string_view text) {
  separate();
  text_ += '"';
  while (!text.empty()) {
    std::size_t plain = 0;
    while (plain < text.size() && is_plain(text[plain])) ++plain;
    text_ += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    // What a person pastes may be cut in the middle of a character, or be no UTF-8 at all.
    const std::size_t length = utf8_length(text, 0);
    if (static_cast<unsigned char>(text[0]) < 0x80) {
      append_escaped(text_, text[0]);
    } else {
      text_ += length == 0 ? replacement : text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  text_ += '"';
}

void Writer::value(uint64_t number) {
  separate();
  append_number(text_, number);
}

void Writer::value(int64_t number) {
  separate();
  append_number(text_, number);
}

void Writer::value(const std::vector<std::string>& texts) {
  open_array();
  for (const std::string& text : texts) value(text);
  close_array();
}

void Writer::text(std::string_view json) {
  separate();
  text_ += json;
}

}  // namespace plimsoll::json
