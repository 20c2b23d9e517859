#include "core/memory/layer_replay.h"

#include <utility>

namespace plimsoll::memory {

namespace {

// The input is a boundary, and the states that cross-attention reads exist once: the caller counts both.
Snapshot without_input(Snapshot snapshot) {
  snapshot[Component::boundaries] = 0;
  snapshot[Component::inputs] = 0;
  return snapshot;
}

Tensor cross_states(Tape& tape, const LayerProgram& p, int size, bool needs_grad) {
  const double width = p.at(model::Role::cross_k).in;
  return tape.input(p.batch * p.cross_length * width, size, needs_grad, Component::inputs);
}

}  // namespace

LayerReplay replay_layer(const LayerProgram& given, const LayerReplayOptions& options) {
  LayerReplay result;
  const double elements = given.batch * given.length * given.hidden;
  result.input_bytes = elements * options.input_size;
  {
    Tape tape;
    std::vector<Tensor> kv;
    Tensor states = cross_states(tape, given, options.input_size, false);
    LayerProgram program = given;
    program.kv = &kv;
    program.cross_states = &states;
    tape.recording = false;
    Tensor x = tape.input(elements, options.input_size, false);
    tape.mark();
    Tensor y = run_layer(tape, program, x);
    result.without_grad = without_input(tape.peak());
    result.without_grad[Component::autocast] -= tape.cached_bytes();  // counted once for all layers
    result.cached = tape.cached_bytes();
    result.output_size = y.size();
    result.output_bytes = y.bytes();
  }
  Tape tape;
  std::vector<Tensor> kv;
  Tensor states = cross_states(tape, given, options.input_size, options.input_needs_grad);
  LayerProgram program = given;
  program.kv = &kv;
  program.cross_states = &states;
  tape.accumulating = options.accumulating;
  Tensor x = tape.input(elements, options.input_size, options.input_needs_grad);
  tape.mark();
  Tensor y = run_layer(tape, program, x);
  result.forward_peak = without_input(tape.peak());
  const Snapshot until_saved = options.stop_early ? tape.peak_until_last_save() : tape.peak();
  result.recompute_peak = without_input(until_saved);
  result.recompute_peak[Component::transient] += y.bytes();  // the gradient that waits
  for (const Tensor& held : kv) result.kv_cache += held.bytes();
  kv.clear();
  result.input_saved = tape.is_saved(x);
  const double with_cache = tape.live().total();
  tape.end_scope();
  result.saved = without_input(tape.live());
  result.saved[Component::transient] -= y.bytes();
  result.cached_only = with_cache - tape.live().total();
  tape.seed_gradient(y);
  if (!options.keep_output) y.free();
  tape.mark();
  tape.backward();
  result.backward_peak = without_input(tape.peak());
  result.weight_gradients = tape.weight_gradient_bytes();
  return result;
}

}  // namespace plimsoll::memory
