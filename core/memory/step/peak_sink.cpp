#include "core/memory/step/peak_sink.h"

#include <algorithm>
#include <cmath>

namespace plimsoll::memory {

namespace {

void add(Snapshot& to, const Snapshot& from, double times = 1) {
  for (std::size_t i = 0; i < component_count; ++i) to.bytes[i] += times * from.bytes[i];
}

// Only a graph keeps more than a layer's input.
bool stores(const Stage& stage) { return stage.recorded && !stage.checkpointing; }

}  // namespace

void PeakSink::look() { raise({}); }

// Beyond 2^53 bytes a sum loses whole ones, and fractions long before: a graph that is gone leaves a
// remainder.
void PeakSink::drop_remainders() {
  for (std::size_t i = 0; i < component_count; ++i) {
    double most = 0;
    for (const Snapshot& highest : highest_) most = std::max(most, highest.bytes[i]);
    if (std::fabs(now_.live.bytes[i]) < 1e-12 * most) now_.live.bytes[i] = 0;
  }
}

void PeakSink::raise(const Snapshot& beside) {
  const auto phase = static_cast<std::size_t>(phase_);
  const Snapshot moment = now_.live + beside;
  const double total = moment.total();
  if (total <= totals_[phase]) return;
  totals_[phase] = total;
  highest_[phase] = moment;
}

void PeakSink::enter(Phase phase) {
  phase_ = phase;
  if (phase >= Phase::optimizer_step_first) drop_remainders();
  look();
}

PeakSink::Handle PeakSink::allocate(Component component, double bytes, const char* /*what*/,
                                    Stream /*stream*/) {
  if (bytes == 0) return nothing;
  now_.live[component] += bytes;
  look();
  return {component, bytes};
}

void PeakSink::become(Handle& handle, Component component) {
  now_.live[handle.component] -= handle.bytes;
  handle.component = component;
  now_.live[component] += handle.bytes;
}

void PeakSink::release_all(Pool pool) {
  add(now_.live, of(pool), -1);
  of(pool) = {};
}

void PeakSink::made(Pool pool, Component component, double bytes) {
  now_.live[component] += bytes;
  of(pool)[component] += bytes;
}

PeakSink::Handle PeakSink::layer_forward(const Layer& layer) {
  const LayerReplay& r = layer.run->replay;
  const bool stored = stores(*layer.stage);
  raise(stored ? r.forward_peak : r.without_grad);
  if (stored) add(now_.live, r.saved);
  made(Pool::cache, Component::autocast, stored ? r.cached_only : r.cached);
  made(Pool::kv_cache, Component::kv_cache, r.kv_cache);
  now_.live[Component::transient] += r.output_bytes;
  return {Component::transient, r.output_bytes};
}

PeakSink::Gradients PeakSink::layer_backward(const Layer& layer, Handle& gradient) {
  const LayerReplay& r = layer.run->replay;
  release(gradient);  // the peaks of the layer hold it
  forget(layer);
  if (!stores(*layer.stage)) raise(r.recompute_peak);
  raise(r.backward_peak);
  gradient = {Component::transient, r.input_gradient};
  now_.live[Component::transient] += r.input_gradient;
  const Gradients made{layer.stage->gradients_pass ? 0 : r.weight_gradients};
  now_.live[Component::gradients] += made.bytes;
  return made;
}

void PeakSink::forget(const Layer& layer) {
  if (stores(*layer.stage)) add(now_.live, layer.run->replay.saved, -1);
}

// The last hidden state, and keys and values that die with the outputs, are part of the head's own numbers.
PeakSink::Head PeakSink::head_forward(const NetworkRun& network, const Handle& stream) {
  release(stream);
  release_all(Pool::kv_cache);
  raise(network.head.forward_peak);
  add(now_.live, network.head.with_outputs);
  return &network;
}

void PeakSink::loss_known(Head network) {
  waiting_ = now_.live;
  add(now_.live, network->head.with_outputs, -1);
  raise(network->head.converted_peak);
  add(now_.live, network->head.held);
}

PeakSink::Gradients PeakSink::head_backward(Head network, Handle& gradient) {
  const HeadReplay& head = network->head;
  add(now_.live, head.held, -1);
  raise(head.backward_peak);
  add(now_.live, head.kept);
  add(of(Pool::outputs), head.kept);
  gradient = {Component::transient, head.incoming_gradient};
  now_.live[Component::transient] += head.incoming_gradient;
  const Gradients made{network->head_passes ? 0 : head.weight_gradients};
  now_.live[Component::gradients] += made.bytes;
  return made;
}

void PeakSink::go_on(const State& before, double times) {
  const State after = now_;
  add(now_.live, after.live, times);
  add(now_.live, before.live, -times);
  for (std::size_t i = 0; i < pool_count; ++i) {
    add(now_.pools[i], after.pools[i], times);
    add(now_.pools[i], before.pools[i], -times);
  }
}

}  // namespace plimsoll::memory
