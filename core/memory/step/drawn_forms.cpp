#include "core/memory/step/drawn_forms.h"

#include <algorithm>
#include <array>

#include "core/memory/step/replay.h"

namespace plimsoll::memory {

namespace {

using Kind = Event::Kind;
constexpr std::size_t never = static_cast<std::size_t>(-1);

struct Highest {
  double bytes = 0;
  std::size_t event = never;  // that leads there
  void raise(double value, std::size_t at) {
    if (event == never || value > bytes) *this = {value, at};
  }
};

// Sums are counted from the beginning of a trace: what was alive before is the same all along.
struct Picture {
  std::vector<Component> component_of;   // by tensor, over all traces of the layer
  std::vector<std::size_t> born, dead;   // events of this trace, by tensor
  std::vector<std::size_t> seen_before;  // moments that are kept before an event

  std::size_t pieces;

  Picture(uint32_t tensors, std::size_t pieces_of_a_trace)
      : component_of(tensors, Component::transient), pieces(pieces_of_a_trace) {}

  void find_highest(const Trace& events) {
    std::array<Highest, component_count> by_component;
    std::vector<char> is_kept(events.size(), 0);
    Snapshot live;
    double total = 0;
    const std::size_t step = events.size() / pieces + 1;
    for (std::size_t from = 0; from < events.size(); from += step) {
      Highest highest;
      for (std::size_t i = from; i < std::min(events.size(), from + step); ++i) {
        const Event& event = events[i];
        Component& component = component_of[event.tensor];
        if (event.kind == Kind::allocate) {
          total += event.bytes;
          born[event.tensor] = i;
        } else {
          live[component] -= event.bytes;
        }
        if (event.kind == Kind::release) {
          total -= event.bytes;
          dead[event.tensor] = i;
        } else {
          component = event.component;
          live[component] += event.bytes;
          by_component[static_cast<std::size_t>(component)].raise(live[component], i);
        }
        highest.raise(total, i);
      }
      is_kept[highest.event] = 1;
    }
    for (const Highest& highest : by_component)
      if (highest.event != never) is_kept[highest.event] = 1;
    seen_before.assign(1, 0);
    for (const char kept : is_kept) seen_before.push_back(seen_before.back() + (kept != 0 ? 1 : 0));
  }
  bool is_drawn(uint32_t tensor) const {
    if (born[tensor] == never || dead[tensor] == never) return true;
    return seen_before[born[tensor]] < seen_before[dead[tensor]];
  }
  void keep(Trace& events) {
    born.assign(component_of.size(), never);
    dead.assign(component_of.size(), never);
    find_highest(events);
    std::size_t kept = 0, hidden = 0;
    for (const Event& event : events) {
      if (is_drawn(event.tensor)) {
        events[kept] = event;
        events[kept++].whole = hidden == 0;
      } else {
        if (event.kind == Kind::allocate) ++hidden;
        if (event.kind == Kind::release) --hidden;
      }
    }
    events.resize(kept);
  }
};

}  // namespace

void keep_what_is_drawn(LayerForms& forms, std::size_t pieces) {
  Picture drawn(forms.tensors, pieces);
  drawn.component_of[forms.forward_input] = Component::boundaries;
  for (Trace* events : {&forms.forward, &forms.recompute, &forms.backward}) drawn.keep(*events);
}

}  // namespace plimsoll::memory
