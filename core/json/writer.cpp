#include "core/json/writer.h"

#include <charconv>

namespace plimsoll::json {

void Writer::append(std::string_view json) {
  json.copy(room(json.size()), json.size());
  end_ += json.size();
}

void Writer::separate() {
  if (!first_) append(",");
  first_ = false;
}

void Writer::open(char bracket) {
  separate();
  append({&bracket, 1});
  first_ = true;
}

void Writer::close(char bracket) {
  append({&bracket, 1});
  first_ = false;
}

void Writer::key(std::string_view name) {
  value(name);
  append(":");
  first_ = true;  // what follows belongs to the key
}

void Writer::value(std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  constexpr std::size_t longest_escape = 6;  // \u001f
  char* const from = room(longest_escape * text.size() + 3);
  char* at = from;
  if (!first_) *at++ = ',';
  first_ = false;
  *at++ = '"';
  for (const char each : text) {
    const auto c = static_cast<unsigned char>(each);
    if (c >= 0x20 && c != '"' && c != '\\') {
      *at++ = each;
      continue;
    }
    *at++ = '\\';
    if (c == '"' || c == '\\') {
      *at++ = each;
    } else if (c == '\n') {
      *at++ = 'n';
    } else if (c == '\t') {
      *at++ = 't';
    } else {
      for (const char escaped : {'u', '0', '0', digits[c >> 4], digits[c & 15]}) *at++ = escaped;
    }
  }
  *at++ = '"';
  end_ += static_cast<std::size_t>(at - from);
}

void Writer::value(bool flag) {
  separate();
  append(flag ? "true" : "false");
}

void Writer::value(uint64_t number) {
  constexpr std::size_t longest = 21;  // with its comma
  char* const from = room(longest);
  char* at = from;
  if (!first_) *at++ = ',';
  first_ = false;
  at = std::to_chars(at, from + longest, number).ptr;
  end_ += static_cast<std::size_t>(at - from);
}

void Writer::value(int64_t number) {
  if (number >= 0) return value(static_cast<uint64_t>(number));
  separate();
  append("-");
  first_ = true;
  value(~static_cast<uint64_t>(number) + 1);
}

void Writer::value(double number) { value(Json(number)); }

void Writer::value(const Json& tree) {
  separate();
  append(write(tree));
}

void Writer::value(const std::vector<std::string>& texts) {
  open_array();
  for (const std::string& text : texts) value(text);
  close_array();
}

void Writer::text(std::string_view json) {
  separate();
  append(json);
}

void Writer::null() {
  separate();
  append("null");
}

}  // namespace plimsoll::json
