#include "core/report/timeline.h"

#include <algorithm>

#include "core/json/rounding.h"
#include "core/memory/step/timeline.h"
#include "core/run/components.h"

namespace plimsoll::report {

namespace {

using json::whole;
using memory::Component;

// From what lies still to what comes and goes, so that the stack stands on a level base.
constexpr Component order[] = {
    Component::frozen_models, Component::engine,     Component::weights,  Component::adapters,
    Component::optimizer,     Component::workspace,  Component::inputs,   Component::gradients,
    Component::kv_cache,      Component::boundaries, Component::gathered, Component::activations,
    Component::autocast,      Component::logits,     Component::buckets,  Component::transient,
};
static_assert(sizeof(order) / sizeof(order[0]) == memory::component_count);

void write_points(json::Writer& out, const memory::Timeline& t, const std::vector<Component>& used) {
  out.key("points");
  out.open_array();
  for (const memory::Point& point : t.points) {
    out.open_object();
    out.field("instant", memory::name(point.phase));
    out.field("micro_batch", uint64_t{point.micro_batch});
    out.field("part", point.part);
    out.key("layer");
    if (point.layer < 0) {
      out.null();
    } else {
      out.value(static_cast<uint64_t>(point.layer));
    }
    out.key("bytes");
    out.open_array();
    for (const Component component : used) out.value(whole(std::max(0.0, point.live[component])));
    out.close_array();
    out.close_object();
  }
  out.close_array();
}

void write_alive(json::Writer& out, const memory::Timeline& t) {
  out.key("alive");
  out.open_array();
  for (const memory::Alive& row : t.alive_at(t.peak)) {
    out.open_object();
    out.field("component", run::component_id(row.component));
    out.field("what", row.what);
    out.field("bytes", whole(row.bytes));
    out.field("count", row.count);
    out.close_object();
  }
  out.close_array();
}

void write_tensors(json::Writer& out, const memory::Timeline& t) {
  out.key("tensors");
  out.open_array();
  for (const memory::TensorCounts& row : t.tensors) {
    out.open_object();
    out.field("component", run::component_id(row.component));
    out.field("what", row.what);
    out.field("bytes", whole(row.bytes));
    out.key("counts");
    out.open_array();
    for (const memory::TensorCounts::Change& change : row.changes) {
      out.value(static_cast<uint64_t>(change.point));
      out.value(change.count);
    }
    out.close_array();
    out.close_object();
  }
  out.close_array();
}

}  // namespace

void write_timeline(json::Writer& out, const run::Run& run, const memory::Machine& machine) {
  const memory::Timeline t =
      memory::timeline(memory::unroll(run.network, run.resolved.recipe, machine, memory::Steps::drawn));
  std::vector<Component> used;
  for (const Component component : order) {
    const auto holds = [component](const memory::Point& p) { return p.live[component] >= 0.5; };
    if (std::any_of(t.points.begin(), t.points.end(), holds)) used.push_back(component);
  }
  out.open_object();
  out.key("components");
  out.open_array();
  for (const Component component : used) out.value(run::component_id(component));
  out.close_array();
  write_points(out, t, used);
  out.field("peak", static_cast<uint64_t>(t.peak));
  write_alive(out, t);
  write_tensors(out, t);
  out.close_object();
}

}  // namespace plimsoll::report
