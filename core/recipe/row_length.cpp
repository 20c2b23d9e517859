// How many tokens the rows of the longest batch hold. A peak is that of the longest batch, not of the mean
// one: of 2000 samples of Orca-Math with 288 tokens on average, one has some 2500, and published runs peak at
// the batch that holds it, padded or not (foundation-model-stack/fms-acceleration
// scripts/benchmarks/refs_orca, scenarios-orca.yaml).
#include <algorithm>
#include <cmath>

#include "core/recipe/recipe.h"

namespace plimsoll::recipe {

bool Recipe::joined_rows() const {
  return !training.padded_batches && model_args.attn_implementation.rfind("flash", 0) == 0;
}

double Recipe::longest_sample() const {
  const auto cap = static_cast<double>(training.max_length);
  if (training.packing || data.longest_length == 0) return cap;
  return std::min(cap, static_cast<double>(data.longest_length));
}

double Recipe::longest_row() const {
  const double longest = longest_sample();
  if (!joined_samples() || data.longest_length == 0 || data.mean_length <= 0) return longest;
  const auto rows = static_cast<double>(training.per_device_train_batch_size);
  return (longest + (rows - 1) * std::min(longest, data.mean_length)) / std::max(1.0, rows);
}

// DeepSpeed's Ulysses, ring attention and PyTorch's context parallel differ in what they exchange within the
// attention. Outside it each GPU holds its share of every row, and in it either a share of the heads of the
// whole row or of the row itself: the same bytes (deepspeedai/DeepSpeed deepspeed/sequence/layer.py;
// pytorch/pytorch torch/distributed/tensor/experimental/_attention.py).
// A row is padded until every GPU has the same number of tokens.
double Recipe::row_length() const {
  if (parallel.sequence_parallel_size <= 1) return longest_row();
  return std::ceil(longest_row() / static_cast<double>(parallel.sequence_parallel_size));
}

}  // namespace plimsoll::recipe
