// Where only a share of the samples is known to be short, the peak stays that of rows of max_length tokens;
// what a batch of the known length takes is said beside it, and the band reaches down to there. So it does to
// the longest of the other batches where mean and longest sample are known.
//
//     if (const auto likely = likely_length(run)) print(note_of(*likely, run).message);
#pragma once

#include <optional>

#include "core/run/run.h"

namespace plimsoll::run {

struct LikelyLength {
  const char* pointer = "";  ///< "/data/p95_length"
  const char* share = "";    ///< "95 of 100"
  uint64_t tokens = 0;
  double allocated = 0;  ///< peak of a batch whose rows have that many tokens
};

/// Of the largest percentile that the request gives. Nothing where the longest sample is known, where rows
/// are packed, or where that percentile reaches max_length.
std::optional<LikelyLength> likely_length(const Run& run);

/// What the low end of the band is multiplied with; 1 where nothing is said of the lengths. Where the longest
/// sample is known, it need not be met: a run that ends early or one of several GPUs may do without it, and
/// peaks at the longest of the other batches.
double shorter_by(const Run& run, const std::optional<LikelyLength>& likely, double allocated);

model::Note note_of(const LikelyLength& likely, const Run& run);

}  // namespace plimsoll::run
