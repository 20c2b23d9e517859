// What the composer and its sinks have in common: tensors that live on from layer to layer, how a step is
// played, and tensors that a rank holds its share of.
#pragma once

#include <vector>

#include "core/memory/step/phase.h"
#include "core/memory/tape/tape.h"

namespace plimsoll::memory {

/// Tensors that are released together.
enum class Pool : uint8_t {
  cache,      ///< autocast's casts, until the forward of the network ends
  kv_cache,   ///< keys and values, until the outputs die
  outputs,    ///< what a loop of one's own still holds after the loss
  left_over,  ///< what FSDP keeps of layers that have gone backward
  gradients,  ///< of parameters
};
constexpr std::size_t pool_count = 5;

/// How a step is played.
struct StepPlay {
  bool first = false;         ///< of the run
  bool makes_states = false;  ///< of the optimizer
  bool finds = false;         ///< gradients exist when it begins
  bool another = false;       ///< a second micro-batch follows, which adds to the gradients of the first
  bool keeps = false;         ///< gradients live on until the next step
  bool follows = true;        ///< a loss came before it, in this step or another
};

/// A rank's share of a small tensor may be less than a byte, which is no tensor.
constexpr double smallest_tensor = 0.5;

/// The tensors of a list when they add up to `all`, and what is missing beside them; of a list that is more,
/// a rank holds its share of each. They stay until the run ends.
template <class Sink>
void allocate_each(Sink& sink, Component component, const std::vector<double>& each, double all,
                   const char* what) {
  double sum = 0;
  for (const double bytes : each) sum += bytes;
  const double share = sum > all + 0.5 ? all / sum : 1;
  double told = 0;
  for (const double bytes : each) {
    if (bytes * share < smallest_tensor) continue;  // it is in what is missing
    sink.allocate(component, bytes * share, what);
    told += bytes * share;
  }
  sink.allocate(component, all - told, what);
}

}  // namespace plimsoll::memory
