#include "core/memory/sharding/low_level_zero.h"

#include <algorithm>

namespace plimsoll::memory {

namespace {

// A bucket takes what fits; a matrix above its size travels alone.
double widest_sent(const model::Architecture& network, const recipe::Recipe& r, int size) {
  double elements = static_cast<double>(r.parallel.zero.reduce_bucket_size);
  for (const model::Stack& stack : network.stacks) {
    for (const model::LayerGroup& group : stack.groups) {
      for (const model::Linear& linear : group.linears)
        elements = std::max(elements, static_cast<double>(linear.in) * static_cast<double>(linear.out));
    }
  }
  return r.full() ? elements * size : 0;
}

}  // namespace

void low_level_zero(const model::Architecture& network, const recipe::Recipe& r, const TrainedSizes& of,
                    Sharding& s) {
  const double n = s.ranks;
  const bool partitioned = s.strategy == Strategy::zero2;
  // A gradient is cut into the ranks' slices, these are joined, and the sum comes back: three copies beside
  // it.
  const double copies = 3;
  s.gradient_share = s.head_gradient_share = partitioned ? 1 / n : 1;
  s.gradients = s.accumulated = of.made * s.gradient_share;
  s.backward_buckets = copies * widest_sent(network, r, of.size);
  s.root_gradients = std::max(0.0, copies * of.largest - s.backward_buckets);
  // Of the largest parameter's partition: its norm is taken in fp64, its new values travel through a buffer.
  const double elements = of.largest / of.size;
  const double norm = 8 * elements / n, gather = elements * (6 / n + 2.0 * of.size);
  if (r.parallel.zero.offload_optimizer != "none") {
    s.host = of.fp32 + of.states + of.paged + of.fp32;
    s.step = std::max(norm, gather);
    return;
  }
  s.optimizer = (of.fp32 + of.states) / n;
  s.paged = of.paged / n;
  s.step = std::max(of.fp32 / n + std::max(norm, of.temporary / n), gather);
}

}  // namespace plimsoll::memory
