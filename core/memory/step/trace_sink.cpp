#include "core/memory/step/trace_sink.h"

#include <algorithm>
#include <utility>

namespace plimsoll::memory {

namespace {

using Kind = Event::Kind;

void place(const Trace& events, const Places& places, Trace& into) {
  const std::size_t before = into.size();
  into.insert(into.end(), events.begin(), events.end());
  for (std::size_t i = before; i < into.size(); ++i) into[i].tensor = places(into[i].tensor);
}

TraceSink::Gradients placed(const Trace& events, const Places& places) {
  TraceSink::Gradients made;
  place(events, places, made.events);
  for (const Event& event : made.events) made.bytes += event.bytes;
  return made;
}

// The events of a head that was walked under `network`.
const HeadTrace& head_of(const Forms& forms, const NetworkRun& network) {
  for (const NetworkForms& each : forms)
    if (each.network == &network) return each.head;
  return forms.front().head;
}

const LayerForms& forms_of(const Forms& forms, const LayerRun& run) {
  for (const NetworkForms& each : forms) {
    for (std::size_t i = 0; i < each.runs.size(); ++i)
      if (each.runs[i] == &run) return each.layers[i];
  }
  return forms.front().layers.front();
}

}  // namespace

Unrolled TraceSink::finish() {
  out_.sections.back().to = out_.events.size();
  return std::move(out_);
}

void TraceSink::section(const char* part, int32_t layer) {
  if (!out_.sections.empty()) out_.sections.back().to = out_.events.size();
  out_.sections.push_back({phase_, step_, micro_batch_, layer, part, out_.events.size(), out_.events.size()});
}

void TraceSink::begin_micro_batch(uint8_t number, bool gradients_exist) {
  micro_batch_ = number;
  playing_ = gradients_exist ? &adding_ : &making_;
}

Event TraceSink::allocate(Component component, double bytes, const char* what, Stream stream) {
  Event event{Kind::allocate, component, true, Places::none, bytes, what};
  if (bytes < smallest_tensor) return event;
  event.tensor = out_.tensors++;
  if (stream != Stream::computing) {
    out_.streams.resize(out_.tensors, Stream::computing);
    out_.streams.back() = stream;
  }
  out_.events.push_back(event);
  return event;
}

void TraceSink::push(Event event, Kind kind) {
  if (event.tensor == Places::none) return;
  event.kind = kind;
  out_.events.push_back(event);
}

void TraceSink::become(Event& event, Component component) {
  event.component = component;
  push(event, Kind::become);
}

void TraceSink::release_all(Pool pool) {
  for (const Event& event : of(pool)) release(event);
  of(pool).clear();
}

double TraceSink::bytes(Pool pool) const {
  double bytes = 0;
  for (const Event& event : pools_[static_cast<std::size_t>(pool)]) bytes += event.bytes;
  return bytes;
}

void TraceSink::release(const Gradients& made) {
  for (const Event& event : made.events) release(event);
}

void TraceSink::keep(const Gradients& made) {
  Trace& gradients = of(Pool::gradients);
  gradients.insert(gradients.end(), made.events.begin(), made.events.end());
}

void TraceSink::play(const Trace& events, const Places& places) { place(events, places, out_.events); }

TraceSink::Layer TraceSink::enter(const Stage& stage, const LayerRun& run, const Event& stream) {
  const LayerForms& f = forms_of(*playing_, run);
  Layer layer{
      &stage, &run, &f, {out_.tensors, {f.forward_input, Places::none}, {stream.tensor, Places::none}}};
  out_.tensors += f.tensors;
  return layer;
}

Event TraceSink::layer_forward(const Layer& layer) {
  const LayerForms& f = *layer.forms;
  play(f.forward, layer.places);
  place(f.cache, layer.places, of(Pool::cache));
  place(f.kv_cache, layer.places, of(Pool::kv_cache));
  const double bytes = layer.run->replay.output_bytes;
  return {Kind::allocate, Component::transient, true, layer.places(f.forward_output), bytes, "layer input"};
}

void TraceSink::forget(const Layer& layer) {
  if (!layer.stage->checkpointing) play(layer.forms->backward, layer.places);
}

TraceSink::Gradients TraceSink::layer_backward(const Layer& layer, Event& gradient) {
  const LayerForms& f = *layer.forms;
  Places places = layer.places;
  places.own[1] = f.seed;
  places.outside[1] = gradient.tensor;
  if (layer.stage->checkpointing) {
    places.base = out_.tensors;
    out_.tensors += f.tensors;
    play(f.recompute, places);
  }
  play(f.backward, places);
  gradient.bytes = layer.run->replay.input_bytes;
  gradient.tensor = f.has_input_gradient ? places(f.input_gradient) : Places::none;
  return placed(f.gradients, places);
}

TraceSink::Head TraceSink::head_forward(const NetworkRun& network, const Event& stream) {
  const HeadTrace& t = head_of(*playing_, network);
  uint32_t numbers = std::max({t.input, t.kv, t.input_gradient});
  for (const Event& event : t.events) numbers = std::max(numbers, event.tensor);
  ++numbers;
  Head head{&t, {out_.tensors, {t.input, Places::none}, {stream.tensor, Places::none}}, stream, {}, false};
  head.alive.resize(numbers, nullptr);
  out_.tensors += numbers;
  play(head, 0, t.forward_end);
  return head;
}

void TraceSink::play(Head& head, std::size_t from, std::size_t to) {
  const HeadTrace& t = *head.events;
  for (std::size_t i = from; i < to; ++i) {
    const Event& event = t.events[i];
    if (event.tensor == t.kv) {
      release_all(Pool::kv_cache);
      continue;
    }
    push({event.kind, event.component, true, head.places(event.tensor), event.bytes, event.what}, event.kind);
    head.alive[event.tensor] = event.kind == Kind::release ? nullptr : &event;
    if (event.tensor == t.input) head.input_released = event.kind == Kind::release;
  }
}

void TraceSink::loss_known(Head& head) { play(head, head.events->forward_end, head.events->backward_begin); }

TraceSink::Gradients TraceSink::head_backward(Head& head, Event& gradient) {
  const HeadTrace& t = *head.events;
  play(head, t.backward_begin, t.backward_end);
  const uint32_t made = t.has_input_gradient ? head.places(t.input_gradient) : Places::none;
  gradient = {Kind::allocate, Component::transient, true, made, 0, "gradient of the last hidden states"};
  Trace left, own;
  for (const Event* event : head.alive) {
    if (event == nullptr || event->tensor == t.input) continue;
    if (t.has_input_gradient && event->tensor == t.input_gradient) {
      gradient.bytes = event->bytes;
      if (event->component != Component::transient) become(gradient, Component::transient);
      continue;
    }
    (event->component == Component::gradients ? own : left).push_back(*event);
  }
  place(left, head.places, of(Pool::outputs));
  if (!head.input_released) put(Pool::outputs, head.stream);  // a network without a head gives what it gets
  return placed(own, head.places);
}

}  // namespace plimsoll::memory
