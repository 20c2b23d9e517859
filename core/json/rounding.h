// Figures that say no more than they know.
//
//     significant(0.123456)   // 0.1235
//     significant(363487e9)   // 363500000000000
//     grouped(7254839296)     // "7,254,839,296"
//
// Powers of ten are made by multiplication, which is exact to 1e22: pow() and log10() differ between the C
// libraries of the command and of the module in the last digit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

namespace plimsoll::json {

/// The nearest whole number, within what JavaScript reads exactly.
inline int64_t whole(double value) {
  constexpr double most = 9007199254740992.0;
  return static_cast<int64_t>(std::llround(std::clamp(value, -most, most)));
}

/// Four digits; 0 for what is no finite number.
inline double significant(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double size = std::fabs(value);
  double unit = 1, scale = 1;
  while (size / unit >= 10000 && unit < 1e300) unit *= 10;
  if (unit > 1) return std::round(value / unit) * unit;
  while (size * scale < 1000 && scale < 1e300) scale *= 10;
  return std::round(value * scale) / scale;
}

/// The whole number below, as a count: 0 for less, 2^53 for more.
inline uint64_t count_of(double value) {
  return static_cast<uint64_t>(std::clamp(value, 0.0, 9007199254740992.0));
}

/// A count as people read it; 0 for what is less.
inline std::string grouped(double count) {
  std::string digits = std::to_string(std::max<int64_t>(0, whole(count)));
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

}  // namespace plimsoll::json
