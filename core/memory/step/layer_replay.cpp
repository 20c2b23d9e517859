#include "core/memory/step/layer_replay.h"

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

// What the layer before weighed, which the loop over layers still names (transformers models/bloom
// BloomModel.forward `outputs`).
Tensor weights_before(Tape& tape, const LayerProgram& p, int stream_size) {
  const double keys = p.length + p.prefix;
  const double scores =
      p.returns_weights ? p.batch * static_cast<double>(p.group->heads) * p.length * keys : 0;
  return tape.make(scores, p.mode.autocast ? 2 : stream_size, Component::transient);
}

// A reentrant checkpoint gives its backward zeros for what nobody reads of a layer's results (torch
// csrc/autograd/python_function.cpp PyNode::apply materialize_grads), and holds both until it is over
// (torch/utils/checkpoint.py CheckpointFunction.backward).
std::vector<Tensor> seeds_of(Tape& tape, const std::vector<Tensor>& unread) {
  std::vector<Tensor> seeds;
  for (const Tensor& tensor : unread) {
    if (tensor.needs_grad()) seeds.push_back(tape.seed(tensor));
  }
  return seeds;
}

LayerProgram with_places(const LayerProgram& given, const Tensor& states, std::vector<Tensor>& kv,
                         std::vector<Tensor>& frame) {
  LayerProgram program = given;
  program.kv = &kv;
  program.frame = &frame;
  program.cross_states = &states;
  return program;
}

void end_no_grad(Tape& tape, LayerTrace& trace, const Tensor& x, const Tensor& y) {
  trace.no_grad_end = trace.no_grad.size();
  tape.end_scope();
  tape.trace = nullptr;
  trace.no_grad_input = x.id();
  trace.no_grad_output = y.id();
}

void walk_without_graph(const LayerProgram& given, const LayerReplayOptions& options, LayerReplay& result) {
  Tape tape;
  std::vector<Tensor> kv, frame;
  Tensor states = cross_states(tape, given, options.input_size, false);
  LayerProgram program = with_places(given, states, kv, frame);
  tape.recording = false;
  Tensor x = tape.input(given.batch * given.length * given.hidden, options.input_size, false);
  tape.mark();
  if (options.trace != nullptr) tape.trace = &options.trace->no_grad;
  Tensor before = weights_before(tape, given, options.input_size);
  Tensor y = run_layer(tape, program, x);
  result.without_grad = without_input(tape.peak());
  before.free();
  result.cached = tape.cached_bytes();
  result.output_size = y.size();
  result.output_bytes = y.bytes();
  if (options.walks == Walks::without_graph) {
    for (const Tensor& held : kv) result.kv_cache += held.bytes();
  }
  if (options.trace != nullptr) end_no_grad(tape, *options.trace, x, y);
}

void walk_with_graph(const LayerProgram& given, const LayerReplayOptions& options, LayerReplay& result) {
  Tape tape;
  std::vector<Tensor> kv, frame;
  Tensor states = cross_states(tape, given, options.input_size, options.cross_needs_grad);
  LayerProgram program = with_places(given, states, kv, frame);
  program.keeps_frame = options.keep_output && given.returns_weights;
  tape.accumulating = options.accumulating;
  tape.hooked = options.stop_early;
  Tensor x =
      tape.input(given.batch * given.length * given.hidden, options.input_size, options.input_needs_grad);
  tape.mark();
  if (options.trace != nullptr) tape.trace = &options.trace->graph;
  const auto events = [&options] { return options.trace == nullptr ? 0 : options.trace->graph.size(); };
  Tensor y = run_layer(tape, program, x);
  const std::size_t forward_end = events();
  result.forward_peak = without_input(tape.peak());
  const Snapshot until_saved = options.stop_early ? tape.peak_until_last_save() : tape.peak();
  result.recompute_peak = without_input(until_saved);
  for (const Tensor& held : kv) result.kv_cache += held.bytes();
  free_in_order(kv);
  result.input_saved = tape.is_saved(x);
  result.output_needs_grad = y.needs_grad();
  result.cached = tape.cached_bytes();
  result.output_size = y.size();
  result.output_bytes = y.bytes();
  const double with_cache = tape.live().total();
  const std::size_t cache_dropped = events();
  tape.end_scope();
  const std::size_t scope_end = events();
  result.saved = without_input(tape.live());
  result.saved[Component::transient] -= y.bytes();
  result.cached_only = with_cache - tape.live().total();
  const uint32_t output_seed = tape.seed_gradient(y);
  const uint32_t output = y.id();
  const double y_bytes = y.bytes();
  if (!options.keep_output) y.free();
  const std::size_t backward_begin = events();
  tape.mark();
  std::vector<Tensor> seeds = seeds_of(tape, frame);
  tape.backward();
  result.backward_peak = without_input(tape.peak());
  // The gradient that waits, and those that were made of it before anything was read.
  const double waiting = options.stop_early ? tape.waiting_at_first_read() : y_bytes;
  result.recompute_peak[Component::transient] += waiting;
  result.weight_gradients = tape.weight_gradient_bytes();
  result.input_gradient = tape.gradient_of(x.id());
  tape.trace = nullptr;
  if (LayerTrace* trace = options.trace) {
    trace->last_save = tape.events_until_last_save();
    trace->forward_end = forward_end;
    trace->cache_dropped = cache_dropped;
    trace->scope_end = scope_end;
    trace->backward_begin = backward_begin;
    trace->first_read = tape.events_until_first_read();
    trace->input = x.id();
    trace->output = output;
    trace->seed = output_seed;
    trace->has_input_gradient = tape.gradient_of(x.id()) > 0;
    trace->input_gradient = tape.gradient_id(x.id());
  }
}

}  // namespace

LayerReplay replay_layer(const LayerProgram& program, const LayerReplayOptions& options) {
  LayerReplay result;
  result.input_bytes = program.batch * program.length * program.hidden * options.input_size;
  if (options.walks != Walks::with_graph) walk_without_graph(program, options, result);
  if (options.walks != Walks::without_graph) walk_with_graph(program, options, result);
  return result;
}

}  // namespace plimsoll::memory
