#include "core/memory/timeline.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

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

// Counts equal tensors while the list is walked, and writes down what has changed at each point that is kept.
struct Census {
  std::vector<TensorCounts> held;

  explicit Census(std::size_t tensors) : row_of_(tensors, none) {}

  void apply(const Event& event) {
    std::size_t& row = row_of_[event.tensor];
    if (row != none) count(row, -1);
    row = event.kind == Event::Kind::release ? none : row_for(event);
    if (row != none) count(row, 1);
  }
  void write_down(std::size_t point) {
    for (std::size_t row : touched_) {
      std::vector<TensorCounts::Change>& changes = held[row].changes;
      Row& now = rows_[row];
      now.touched = false;
      if (now.count != (changes.empty() ? 0 : changes.back().count)) changes.push_back({point, now.count});
    }
    touched_.clear();
  }

 private:
  struct Row {
    uint64_t count = 0;
    bool touched = false;  // since the last point
  };
  // The operations' names are literals, of which few are repeated: most events find their row by address.
  struct Made {
    const char* what;
    double bytes;
    Component component;
    bool operator==(const Made&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Made& m) const {
      const auto whole_bytes = static_cast<uint64_t>(m.bytes);
      const uint64_t mixed = (whole_bytes ^ (whole_bytes >> 17)) * 0x9E3779B97F4A7C15u;
      return static_cast<std::size_t>(mixed >> 16) + std::hash<const char*>()(m.what) +
             static_cast<std::size_t>(m.component);
    }
  };
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  void count(std::size_t row, int more) {
    rows_[row].count += static_cast<uint64_t>(more);  // one less wraps around to one less
    if (std::exchange(rows_[row].touched, true)) return;
    touched_.push_back(row);
  }
  std::size_t row_for(const Event& event) {
    const auto [known, is_unknown] = by_address_.try_emplace({event.what, event.bytes, event.component}, 0);
    if (!is_unknown) return known->second;
    const auto [found, is_new] =
        by_name_.try_emplace({event.component, event.bytes, std::string_view(event.what)}, held.size());
    if (is_new) {
      held.push_back({event.component, event.what, event.bytes, {}});
      rows_.emplace_back();
    }
    return known->second = found->second;
  }

  std::unordered_map<Made, std::size_t, Hash> by_address_;
  std::map<std::tuple<Component, double, std::string_view>, std::size_t> by_name_;
  std::vector<Row> rows_;
  std::vector<std::size_t> touched_, row_of_;  // rows; by tensor
};

}  // namespace

std::vector<Alive> Timeline::alive_at(std::size_t point) const {
  std::vector<Alive> rows;
  for (const TensorCounts& each : tensors) {
    uint64_t count = 0;
    for (const TensorCounts::Change& change : each.changes)
      if (change.point <= point) count = change.count;
    if (count > 0) rows.push_back({each.component, each.what, each.bytes, count});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Alive& a, const Alive& b) {
    return a.bytes * static_cast<double>(a.count) > b.bytes * static_cast<double>(b.count);
  });
  return rows;
}

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
  Census census(run.tensors);
  std::size_t happened = 0;
  double highest = -1;
  const Moment* last = nullptr;
  for (const Moment& moment : moments) {
    if (last != nullptr && moment.at == last->at && moment.section->phase == last->section->phase) continue;
    last = &moment;
    for (; happened < moment.at; ++happened) {
      again.apply(run.events[happened], component_of);
      census.apply(run.events[happened]);
    }
    census.write_down(result.points.size());
    const double total = again.live.total();
    if (total > highest) {
      highest = total;
      result.peak = result.points.size();
    }
    const Section& s = *moment.section;
    result.points.push_back({s.phase, s.micro_batch, s.layer, s.part, again.live});
  }
  census.held.erase(std::remove_if(census.held.begin(), census.held.end(),
                                   [](const TensorCounts& each) { return each.changes.empty(); }),
                    census.held.end());
  result.tensors = std::move(census.held);
  return result;
}

}  // namespace plimsoll::memory
