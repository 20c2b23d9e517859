// Shares of a difference that were found by a rougher measure than the difference itself.
//
//     add_up_to(6.0, {&first, &second});    // of 3 and 1 they become 4.5 and 1.5
#pragma once

#include <cmath>
#include <vector>

namespace plimsoll::run {

/// What they leave of `sum` goes to each in proportion to its size; where all are 0 they stay so.
inline void add_up_to(double sum, const std::vector<double*>& shares) {
  double left = sum, all = 0;
  for (const double* share : shares) {
    left -= *share;
    all += std::fabs(*share);
  }
  for (double* share : shares) {
    if (all > 0) *share += left * std::fabs(*share) / all;
  }
}

}  // namespace plimsoll::run
