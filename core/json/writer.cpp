#include "core/json/writer.h"

#include <array>
#include <cstring>

namespace plimsoll::json {

namespace {

// Whether eight characters may go as they are: no quote, no backslash and no control character among them. A
// borrow from the byte below only ever says no.
bool are_plain(const char* eight) {
  constexpr uint64_t ones = 0x0101010101010101U, highs = 0x80 * ones;
  uint64_t word = 0;
  std::memcpy(&word, eight, sizeof word);
  const auto below = [](uint64_t bytes, uint64_t limit) { return (bytes - limit * ones) & ~bytes & highs; };
  return (below(word, 0x20) | below(word ^ (ones * '"'), 1) | below(word ^ (ones * '\\'), 1)) == 0;
}

char* write_escaped(char* at, char each) {
  static constexpr char digits[] = "0123456789abcdef";
  const auto c = static_cast<unsigned char>(each);
  if (c >= 0x20 && c != '"' && c != '\\') {
    *at++ = each;
    return at;
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
  return at;
}

constexpr auto pairs = [] {  // "00", "01", ... "99"
  std::array<char, 200> text{};
  for (std::size_t i = 0; i < 100; ++i) {
    text[2 * i] = static_cast<char>('0' + i / 10);
    text[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return text;
}();

constexpr std::size_t longest_number = 20;

char* write_pair(char* at, uint32_t below_100) {
  std::memcpy(at, &pairs[std::size_t{2} * below_100], 2);
  return at + 2;
}
char* write_one_or_two(char* at, uint32_t below_100) {
  if (below_100 >= 10) return write_pair(at, below_100);
  *at = static_cast<char>('0' + below_100);
  return at + 1;
}

char* write_digits(char* at, uint64_t number) {
  const auto last_four = static_cast<uint32_t>(number % 10000);
  if (number >= 10000)
    at = write_pair(write_digits(at, number / 10000), last_four / 100);
  else if (number >= 100)
    at = write_one_or_two(at, last_four / 100);
  else
    return write_one_or_two(at, last_four);
  return write_pair(at, last_four % 100);
}

}  // namespace

void Writer::grow(std::size_t bytes) {
  room_ = 2 * room_ + bytes;
  std::unique_ptr<char[]> larger(new char[room_]);  // not cleared
  if (end_ > 0) std::memcpy(larger.get(), text_.get(), end_);
  text_ = std::move(larger);
}

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
  char* const from = room(name.size() + 4);
  char* at = from;
  if (!first_) *at++ = ',';
  *at++ = '"';
  at += name.copy(at, name.size());
  *at++ = '"';
  *at++ = ':';
  end_ += static_cast<std::size_t>(at - from);
  first_ = true;  // what follows belongs to the key
}

void Writer::value(std::string_view text) {
  constexpr std::size_t longest_escape = 6;  // \u001f
  char* const from = room(longest_escape * text.size() + 3);
  char* at = from;
  if (!first_) *at++ = ',';
  first_ = false;
  *at++ = '"';
  std::size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    if (are_plain(text.data() + i)) {
      std::memcpy(at, text.data() + i, 8);
      at += 8;
    } else {
      for (std::size_t c = i; c < i + 8; ++c) at = write_escaped(at, text[c]);
    }
  }
  for (; i < text.size(); ++i) at = write_escaped(at, text[i]);
  *at++ = '"';
  end_ += static_cast<std::size_t>(at - from);
}

void Writer::value(bool flag) {
  separate();
  append(flag ? "true" : "false");
}

void Writer::value(uint64_t number) {
  char* const from = room(longest_number + 1);  // and a comma
  char* at = from;
  if (!first_) *at++ = ',';
  first_ = false;
  at = write_digits(at, number);
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
