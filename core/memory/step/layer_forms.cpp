#include "core/memory/step/layer_forms.h"

#include <algorithm>

namespace plimsoll::memory {

namespace {

using Kind = Event::Kind;

uint32_t numbers_in(const LayerTrace& t) {
  uint32_t highest = std::max({t.input, t.output, t.seed, t.no_grad_input, t.no_grad_output});
  for (const Trace* events : {&t.graph, &t.no_grad}) {
    for (const Event& event : *events) highest = std::max(highest, event.tensor);
  }
  return highest + 1;
}

void append(const Trace& from, std::size_t begin, std::size_t end, Trace& to) {
  to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(begin),
            from.begin() + static_cast<std::ptrdiff_t>(end));
}

// Tensors that `traces`, one after the other, leave alive: their last event, by number.
std::vector<const Event*> left_alive(std::initializer_list<const Trace*> traces, uint32_t numbers) {
  std::vector<const Event*> alive(numbers, nullptr);
  for (const Trace* events : traces) {
    for (const Event& event : *events) {
      alive[event.tensor] = event.kind == Kind::release ? nullptr : &event;
    }
  }
  return alive;
}

void keep_kv(LayerForms& f) {
  for (const Event* event : left_alive({&f.forward}, f.tensors)) {
    if (event != nullptr && event->component == Component::kv_cache) f.kv_cache.push_back(*event);
  }
}

// What the layer's own frames still hold when its backward is done dies with them; gradients of parameters
// and the gradient that goes on to the layer before stay.
void end_backward(const LayerTrace& t, const std::vector<const Event*>& alive, bool owns_output,
                  LayerForms& f) {
  Trace releases;
  for (const Event* event : alive) {
    if (event == nullptr || event->tensor == t.input) continue;
    if (t.has_input_gradient && event->tensor == t.input_gradient) continue;
    if (!owns_output && (event->tensor == t.output || event->component == Component::kv_cache)) continue;
    if (event->component == Component::gradients) {
      f.gradients.push_back(*event);
      continue;
    }
    releases.push_back(*event);
    releases.back().kind = Kind::release;
  }
  append(releases, 0, releases.size(), f.backward);
}

// Non-reentrant recomputation begins where backward first reads something that was kept, and ends at the last
// tensor that is saved: later ones never exist, and what its frames held until then dies at once.
void stop_early(const LayerTrace& t, LayerForms& f) {
  std::vector<char> made(f.tensors, 0);
  append(t.graph, t.backward_begin, t.first_read, f.recompute);
  append(t.graph, 0, t.last_save, f.recompute);
  for (const Event& event : f.recompute) made[event.tensor] = 1;
  made[t.input] = made[t.seed] = 1;
  for (std::size_t i = t.last_save; i < t.backward_begin; ++i) {
    const Event& event = t.graph[i];
    if (event.kind != Kind::allocate && made[event.tensor] != 0) f.recompute.push_back(event);
  }
  for (std::size_t i = t.first_read; i < t.graph.size(); ++i) {
    const Event& event = t.graph[i];
    if (event.kind == Kind::allocate) made[event.tensor] = 1;
    if (made[event.tensor] != 0) f.backward.push_back(event);
  }
}

void stored(const LayerTrace& t, LayerForms& f) {
  append(t.graph, 0, t.forward_end, f.forward);
  append(t.graph, t.cache_dropped, t.scope_end, f.cache);
  append(t.graph, t.backward_begin, t.graph.size(), f.backward);
  f.forward_input = t.input;
  f.forward_output = t.output;
  keep_kv(f);
  end_backward(t, left_alive({&f.forward, &f.cache, &f.backward}, f.tensors), false, f);
}

// Releases right after the allocation, from `begin` on, are left out; gives what stays for it.
Trace stay(Trace& events, std::size_t begin) {
  Trace made;
  std::size_t kept = begin;
  for (std::size_t i = begin; i < events.size(); ++i) {
    const Event& event = events[i];
    if (event.kind == Kind::release && event.component == Component::gradients && kept > begin &&
        events[kept - 1].kind == Kind::allocate && events[kept - 1].tensor == event.tensor) {
      made.push_back(events[kept - 1]);
      continue;
    }
    events[kept++] = event;
  }
  events.resize(kept);
  return made;
}

}  // namespace

void keep_gradients(LayerForms& forms) {
  const Trace made = stay(forms.backward, 0);
  append(made, 0, made.size(), forms.gradients);
}

void keep_gradients(HeadTrace& head) {
  stay(head.events, head.backward_begin);
  head.backward_end = head.events.size();
}

LayerForms layer_forms(const LayerRun& run, const Stage& stage) {
  const LayerTrace& t = run.trace;
  LayerForms f;
  f.tensors = numbers_in(t);
  f.seed = t.seed;
  f.has_input_gradient = t.has_input_gradient;
  f.input_gradient = t.input_gradient;
  if (stage.recorded && !stage.checkpointing) {
    stored(t, f);
    return f;
  }
  append(t.no_grad, 0, t.no_grad_end, f.forward);
  append(t.no_grad, t.no_grad_end, t.no_grad.size(), f.cache);
  f.forward_input = t.no_grad_input;
  f.forward_output = t.no_grad_output;
  keep_kv(f);
  if (!stage.recorded) return f;
  if (stage.stop_early) {
    stop_early(t, f);
  } else {
    for (std::size_t i = 0; i < t.backward_begin; ++i) {
      if (t.graph[i].tensor != t.seed) f.recompute.push_back(t.graph[i]);
    }
    append(t.graph, t.backward_begin, t.graph.size(), f.backward);
  }
  end_backward(t, left_alive({&f.recompute, &f.backward}, f.tensors), true, f);
  return f;
}

}  // namespace plimsoll::memory
