// Two functions of the C library by hand, because the library's own bring along 128-bit floating-point
// arithmetic and a printer of every kind of value: a twentieth of the first module. JSON alone calls them.
#include <array>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <string_view>

/// The number that JavaScript reads in a text; wasm/module.js.in.
extern "C" double number_in(const char* text, size_t length);

namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The decimal number that a text begins with: m times ten to the power of e, and where it ends.
struct Decimal {
  uint64_t mantissa = 0;
  int exponent = 0;
  bool exact = true;
  const char* end = nullptr;
};

void take_digits(const char*& at, Decimal& number, int step) {
  for (; is_digit(*at); ++at) {
    if (number.mantissa > (UINT64_MAX - 9) / 10) {
      number.exact = false;
      continue;
    }
    number.mantissa = 10 * number.mantissa + static_cast<uint64_t>(*at - '0');
    number.exponent -= step;
  }
}

Decimal decimal(const char* text) {
  Decimal number;
  const char* at = text;
  take_digits(at, number, 0);
  bool any = at != text;
  if (*at == '.') {
    const char* const fraction = at + 1;
    at = fraction;
    take_digits(at, number, 1);
    any = any || at != fraction;
  }
  number.end = any ? at : nullptr;
  if (!any || (*at != 'e' && *at != 'E')) return number;
  ++at;
  const bool minus = *at == '-';
  if (*at == '-' || *at == '+') ++at;
  if (!is_digit(*at)) return number;
  int power = 0;
  for (; is_digit(*at); ++at) power = power < 10000 ? 10 * power + (*at - '0') : power;
  number.exponent += minus ? -power : power;
  number.end = at;
  return number;
}

// The powers of ten that a double holds exactly: one multiplication or division by them rounds once, as it
// should.
constexpr std::array<double, 23> powers = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                           1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                           1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr int largest_power = powers.size() - 1;
constexpr uint64_t largest_exact = uint64_t{1} << 53;

}  // namespace

extern "C" {

double strtod(const char* text, char** end) {
  const char* start = text;
  while (*start == ' ' || (*start >= '\t' && *start <= '\r')) ++start;
  const bool minus = *start == '-';
  if (*start == '-' || *start == '+') ++start;
  const Decimal number = decimal(start);
  if (end != nullptr) *end = const_cast<char*>(number.end == nullptr ? text : number.end);
  if (number.end == nullptr) return 0;
  double value = static_cast<double>(number.mantissa);
  const int exponent = number.exponent;
  if (!number.exact || number.mantissa > largest_exact || exponent > largest_power ||
      exponent < -largest_power) {
    value = number_in(start, static_cast<size_t>(number.end - start));
  } else if (exponent < 0) {
    value /= powers[static_cast<size_t>(-exponent)];
  } else {
    value *= powers[static_cast<size_t>(exponent)];
  }
  return minus ? -value : value;
}

// The C++ library names these two, and the C library has all three in one file; nothing calls them.
float strtof(const char* text, char** end) { return static_cast<float>(strtod(text, end)); }
long double strtold(const char* text, char** end) { return strtod(text, end); }

/// Letters, and whole numbers in base 16 with leading zeros: "%04x", "%.2X". Ends the program at anything
/// else.
int snprintf(char* out, size_t room, const char* format, ...) {
  va_list values;
  va_start(values, format);
  size_t length = 0;
  const auto put = [&](char c) {
    if (length + 1 < room) out[length] = c;
    ++length;
  };
  for (const char* at = format; *at != 0; ++at) {
    if (*at != '%') {
      put(*at);
      continue;
    }
    ++at;
    if (*at != '0' && *at != '.') __builtin_trap();
    ++at;
    if (!is_digit(*at)) __builtin_trap();
    const int least = *at++ - '0';
    if (*at != 'x' && *at != 'X') __builtin_trap();
    const std::string_view digits = *at == 'x' ? "0123456789abcdef" : "0123456789ABCDEF";
    const auto value = va_arg(values, unsigned);
    for (int place = 7; place >= 0; --place) {
      const unsigned shifted = value >> (4 * place);
      if (shifted != 0 || place < least) put(digits[shifted & 15U]);
    }
  }
  va_end(values);
  if (room > 0) out[length < room ? length : room - 1] = 0;
  return static_cast<int>(length);
}

}  // extern "C"
