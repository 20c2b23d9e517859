#include "core/memory/timeline.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace plimsoll::memory {

namespace {

constexpr std::size_t phases = static_cast<std::size_t>(Phase::optimizer_step) + 1;
// Points that are kept whatever the pieces are: the highest of each instant and of each component.
constexpr std::size_t most_pieces = most_points - phases - component_count;

// What was alive at one is worked out afterwards, for the few that are kept.
struct Moment {
  std::size_t at = 0;  // events that have happened
  const Section* section = nullptr;
  double total = -1;
};

void raise(Moment& highest, double value, std::size_t at, const Section* section) {
  if (value > highest.total) highest = {at, section, value};
}

// Walks the list and keeps when it is highest in each piece, instant and component.
struct Walk {
  std::vector<Moment> pieces;
  std::array<Moment, phases> by_phase;
  std::array<Moment, component_count> by_component;
  Snapshot live;
  double total = 0;

  void look(std::size_t at, const Section* section) {
    raise(pieces.back(), total, at, section);
    raise(by_phase[static_cast<std::size_t>(section->phase)], total, at, section);
  }
  // Gives the component that became larger, null when none did.
  const Component* apply(const Event& event, std::vector<Component>& component_of) {
    Component& known = component_of[event.tensor];
    if (event.kind != Event::Kind::allocate) live[known] -= event.bytes;
    if (event.kind == Event::Kind::release) {
      total -= event.bytes;
      return nullptr;
    }
    if (event.kind == Event::Kind::allocate) total += event.bytes;
    known = event.component;
    live[known] += event.bytes;
    return &known;
  }
  void draw(const Event& event, std::vector<Component>& component_of, std::size_t at,
            const Section* section) {
    if (const Component* grown = apply(event, component_of))
      raise(by_component[static_cast<std::size_t>(*grown)], live[*grown], at, section);
    look(at, section);
  }
};

// The first step is left out: it is the later one without the optimizer's states.
bool is_drawn(const Section& section) { return section.step != 1; }

Walk walk(const Unrolled& run) {
  const auto drawn =
      static_cast<std::size_t>(std::count_if(run.sections.begin(), run.sections.end(), is_drawn));
  const std::size_t parts = std::max<std::size_t>(1, most_pieces / std::max<std::size_t>(1, drawn));
  const std::size_t merged = (drawn + most_pieces - 1) / most_pieces;  // sections that share a piece
  Walk walk;
  std::vector<Component> component_of(run.tensors, Component::transient);
  std::size_t in_piece = merged;
  Phase phase = Phase::load;
  for (const Section& section : run.sections) {
    if (!is_drawn(section)) {
      for (std::size_t i = section.from; i < section.to; ++i) walk.apply(run.events[i], component_of);
      continue;
    }
    if (in_piece >= merged || section.phase != phase) {
      walk.pieces.emplace_back();
      in_piece = 0;
    }
    ++in_piece;
    phase = section.phase;
    walk.look(section.from, &section);
    const std::size_t step = (section.to - section.from) / parts + 1;
    for (std::size_t i = section.from; i < section.to; ++i) {
      if (merged == 1 && i > section.from && (i - section.from) % step == 0) walk.pieces.emplace_back();
      walk.draw(run.events[i], component_of, i + 1, &section);
    }
  }
  return walk;
}

std::vector<Alive> alive_at(const Unrolled& run, std::size_t events) {
  std::vector<const Event*> alive(run.tensors, nullptr);
  for (std::size_t i = 0; i < events; ++i) {
    const Event& event = run.events[i];
    alive[event.tensor] = event.kind == Event::Kind::release ? nullptr : &event;
  }
  std::vector<Alive> rows;
  for (const Event* event : alive) {
    if (event == nullptr) continue;
    const auto same = std::find_if(rows.begin(), rows.end(), [event](const Alive& row) {
      return row.component == event->component && row.bytes == event->bytes &&
             (row.what == event->what || std::strcmp(row.what, event->what) == 0);
    });
    if (same != rows.end()) {
      ++same->count;
    } else {
      rows.push_back({event->component, event->what, event->bytes, 1});
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Alive& a, const Alive& b) {
    return a.bytes * static_cast<double>(a.count) > b.bytes * static_cast<double>(b.count);
  });
  return rows;
}

}  // namespace

Timeline timeline(const Unrolled& run) {
  Walk seen = walk(run);
  std::vector<Moment> moments = std::move(seen.pieces);
  moments.insert(moments.end(), seen.by_phase.begin(), seen.by_phase.end());
  moments.insert(moments.end(), seen.by_component.begin(), seen.by_component.end());
  moments.erase(
      std::remove_if(moments.begin(), moments.end(), [](const Moment& m) { return m.section == nullptr; }),
      moments.end());
  std::stable_sort(moments.begin(), moments.end(),
                   [](const Moment& a, const Moment& b) { return a.at < b.at; });
  Timeline result;
  Walk again;
  std::vector<Component> component_of(run.tensors, Component::transient);
  std::size_t happened = 0, peak_at = 0;
  double highest = -1;
  const Moment* last = nullptr;
  for (const Moment& moment : moments) {
    if (last != nullptr && moment.at == last->at && moment.section->phase == last->section->phase) continue;
    last = &moment;
    for (; happened < moment.at; ++happened) again.apply(run.events[happened], component_of);
    const double total = again.live.total();
    if (total > highest) {
      highest = total;
      peak_at = moment.at;
      result.peak = result.points.size();
    }
    const Section& s = *moment.section;
    result.points.push_back({s.phase, s.micro_batch, s.layer, s.part, again.live});
  }
  result.alive = alive_at(run, peak_at);
  return result;
}

}  // namespace plimsoll::memory
