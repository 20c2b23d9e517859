#include "core/diagnosis/size.h"

#include "core/json/ascii.h"

namespace plimsoll::diagnosis {

namespace {

using ascii::is_digit;
using ascii::is_word;

struct Unit {
  std::string_view name;
  int power;      // of 1024
  bool attached;  // only right behind the digits: "10.51G", but not "4 g"
};
constexpr Unit units[] = {{"bytes", 0, false}, {"byte", 0, false}, {"kib", 1, false}, {"mib", 2, false},
                          {"gib", 3, false},   {"tib", 4, false},  {"pib", 5, false}, {"eib", 6, false},
                          {"kb", 1, false},    {"mb", 2, false},   {"gb", 3, false},  {"tb", 4, false},
                          {"eb", 6, false},    {"b", 0, true},     {"k", 1, true},    {"m", 2, true},
                          {"g", 3, true},      {"t", 4, true}};

constexpr std::size_t most_digits = 20;

// Reads digits[.digits]; false when there are more than a size can have.
bool read_number(CountedText text, std::size_t& at, Size& out, std::size_t& decimals) {
  std::size_t digits = 0;
  for (; at < text.size() && is_digit(text[at]); ++at, ++digits)
    out.value = out.value * 10 + (text[at] - '0');
  decimals = 0;
  if (at + 1 < text.size() && text[at] == '.' && is_digit(text[at + 1])) {
    double scale = 1;
    for (++at; at < text.size() && is_digit(text[at]); ++at, ++decimals, ++digits) {
      out.value = out.value * 10 + (text[at] - '0');
      scale *= 10;
    }
    out.value /= scale;
  }
  return digits <= most_digits;
}

const Unit* read_unit(CountedText text, std::size_t& at) {
  const bool blank = at < text.size() && text[at] == ' ';
  const std::size_t begin = blank ? at + 1 : at;
  for (const Unit& unit : units) {
    if (blank && unit.attached) continue;
    if (!text.substr(begin).starts_with(unit.name)) continue;
    const std::size_t end = begin + unit.name.size();
    if (end < text.size() && is_word(text[end])) continue;
    at = end;
    return &unit;
  }
  return nullptr;
}

}  // namespace

std::vector<Size> sizes_in(CountedText text, std::size_t most) {
  std::vector<Size> out;
  for (std::size_t at = 0; at < text.size() && out.size() < most;) {
    // "of which19.38 MiB" occurs: a letter may stand before the digits, a digit's own dot or a name's may
    // not.
    const bool starts = is_digit(text[at]) && (at == 0 || (text[at - 1] != '.' && text[at - 1] != '_'));
    if (!starts) {
      ++at;
      continue;
    }
    Size size;
    size.begin = at;
    std::size_t decimals = 0;
    const bool sane = read_number(text, at, size, decimals);
    const std::size_t number_end = at;
    const Unit* unit = read_unit(text, at);
    const bool bare = unit == nullptr && decimals == 0 && number_end - size.begin >= 5 &&
                      (number_end >= text.size() || !is_word(text[number_end]));
    if (!sane || (unit == nullptr && !bare)) continue;
    double scale = 1;
    for (int i = 0; unit != nullptr && i < unit->power; ++i) scale *= 1024;
    size.bytes = size.value * scale;
    if (scale > 1) {
      double step = scale;
      for (std::size_t i = 0; i < decimals; ++i) step /= 10;
      size.half = step / 2;
    }
    size.unit = unit == nullptr ? std::string() : std::string(unit->name);
    size.end = at;
    out.push_back(std::move(size));
  }
  return out;
}

}  // namespace plimsoll::diagnosis
