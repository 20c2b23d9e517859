#include "core/json/writer.h"

#include <charconv>

namespace plimsoll::json {

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
  value(name);
  text_ += ':';
  first_ = true;  // what follows belongs to the key
}

void Writer::value(std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  text_.append(first_ ? "\"" : ",\"");
  first_ = false;
  std::size_t plain = 0;  // start of the stretch that needs no escape
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    text_.append(text, plain, i - plain);
    plain = i + 1;
    text_ += '\\';
    if (c == '"' || c == '\\') {
      text_ += static_cast<char>(c);
    } else if (c == '\n') {
      text_ += 'n';
    } else if (c == '\t') {
      text_ += 't';
    } else {
      text_ += "u00";
      text_ += digits[c >> 4];
      text_ += digits[c & 15];
    }
  }
  text_.append(text, plain, text.size() - plain);
  text_ += '"';
}

void Writer::value(bool flag) {
  separate();
  text_ += flag ? "true" : "false";
}

void Writer::value(uint64_t number) {
  char buffer[21] = {','};
  const std::to_chars_result end = std::to_chars(buffer + 1, buffer + sizeof buffer, number);
  const char* from = first_ ? buffer + 1 : buffer;
  text_.append(from, static_cast<std::size_t>(end.ptr - from));
  first_ = false;
}

void Writer::value(int64_t number) {
  if (number >= 0) return value(static_cast<uint64_t>(number));
  separate();
  text_ += '-';
  first_ = true;
  value(~static_cast<uint64_t>(number) + 1);
}

void Writer::value(double number) { value(Json(number)); }

void Writer::value(const Json& tree) {
  separate();
  text_ += write(tree);
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

void Writer::null() {
  separate();
  text_ += "null";
}

}  // namespace plimsoll::json
