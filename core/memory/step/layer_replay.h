// One layer, measured: the numbers from which the highest moments of whole passes are put together.
//
//     LayerReplay measured = replay_layer(program, {.input_size = 2, .keep_output = false});
//     measured.backward_peak.total();    // highest bytes while this layer runs backward, its input not counted
#pragma once

#include "core/memory/layers/layer.h"

namespace plimsoll::memory {

/// A layer is walked without a graph, with one, or both; what was not walked is left empty in the result.
enum class Walks { both, without_graph, with_graph };

struct LayerReplayOptions {
  Walks walks = Walks::both;
  int input_size = 2;         ///< dtype of the residual stream that enters
  bool keep_output = false;   ///< reentrant checkpointing holds the recomputed output through the backward
  bool stop_early = false;    ///< non-reentrant recomputation ends at the last tensor that is saved
  bool accumulating = false;  ///< parameter gradients exist already
  bool input_needs_grad = true;
  bool cross_needs_grad = true;        ///< the states that cross-attention reads
  struct LayerTrace* trace = nullptr;  ///< where the two walks through the layer are written down, or null
  bool operator==(const LayerReplayOptions&) const = default;
};

/// The events behind a LayerReplay. Numbers of tensors are those of the layer's own tape.
struct LayerTrace {
  Trace no_grad;                ///< the walk without a graph
  std::size_t no_grad_end = 0;  ///< from here on: autocast's cache is dropped
  uint32_t no_grad_input = 0, no_grad_output = 0;
  Trace graph;  ///< the walk with a graph, then back
  std::size_t last_save = 0, forward_end = 0, cache_dropped = 0, scope_end = 0, backward_begin = 0;
  std::size_t first_read = 0;  // of something kept, by the backward
  uint32_t input = 0, output = 0, seed = 0;
  bool has_input_gradient = false;
  uint32_t input_gradient = 0;
};

struct LayerReplay {
  int output_size = 2;  ///< dtype of the stream that leaves
  double input_bytes = 0, output_bytes = 0;
  double input_gradient = 0;  ///< what the backward gives to the layer before
  double cached = 0;          ///< autocast's cache of weight casts, held until the forward ends
  double cached_only = 0;     ///< the part of it that the graph does not keep anyway
  double kv_cache = 0;
  double weight_gradients = 0;  ///< of this layer's trained parameters
  bool input_saved = false;     ///< the graph itself keeps the input
  /// False: nothing in it or before it is trained, and it never goes backward.
  bool output_needs_grad = true;
  Snapshot without_grad;    ///< highest under no_grad, input not counted
  Snapshot saved;           ///< kept for backward, input not counted
  Snapshot forward_peak;    ///< highest with the graph recorded, input not counted
  Snapshot recompute_peak;  ///< the same as far as recomputation runs, plus the incoming gradient
  Snapshot backward_peak;   ///< highest in backward, incl. incoming gradient; input not counted
};

LayerReplay replay_layer(const LayerProgram& program, const LayerReplayOptions& options);

}  // namespace plimsoll::memory
