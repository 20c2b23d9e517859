// The largest values that still fit the chosen GPU, everything else unchanged, and what one more costs.
//
//     if (const auto limits = limits_of(run, catalog)) print(limits->batch.value_or(0));
#pragma once

#include <optional>
#include <vector>

#include "core/run/run.h"

namespace plimsoll::run {

/// Bytes on the device; nothing where the field means nothing or the request contradicts itself.
struct Costs {
  std::optional<double> one_more_sample, more_tokens, twice_the_rank, one_more_image;
};

/// Rows of batch sizes, columns of lengths.
struct Map {
  std::vector<uint64_t> batches, lengths;
  std::vector<std::vector<memory::Verdict>> verdicts;
};

struct LargestModel {
  const ModelEntry* entry = nullptr;
  double high = 0;  ///< end of its band
};

/// A limit is nothing where not even 1 fits, or where the field means nothing.
struct Limits {
  std::optional<uint64_t> batch, length, rank, image_size;
  std::optional<LargestModel> model;  ///< the preset with the most parameters that the same recipe trains
  Costs costs;
  Map map;
};

/// Nothing when no GPU was chosen.
std::optional<Limits> limits_of(const Run& run, const Catalog& catalog);

}  // namespace plimsoll::run
