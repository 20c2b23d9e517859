// Arithmetic on sizes that stops at 2^64-1 instead of wrapping: a config with absurd sizes must give an
// absurd count, never a small one.
//
//     uint64_t weights = saturating::times(in, out);
//     uint64_t all     = saturating::plus(weights, bias);
#pragma once

#include <cstdint>
#include <limits>

namespace plimsoll::saturating {

inline uint64_t plus(uint64_t a, uint64_t b) {
  const uint64_t sum = a + b;
  return sum < a ? std::numeric_limits<uint64_t>::max() : sum;
}

inline uint64_t times(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<uint64_t>::max() : product;
}

}  // namespace plimsoll::saturating
