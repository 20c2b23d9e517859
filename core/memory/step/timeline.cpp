#include "core/memory/step/timeline.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace plimsoll::memory {

namespace {

// Points that are kept whatever the pieces are: the highest of each component. No piece holds two instants,
// so the highest of an instant is the highest of one of its pieces.
constexpr std::size_t most_pieces = most_points - component_count;

// What was alive at one is worked out afterwards, for the few that are kept.
struct Moment {
  std::size_t at = 0;  // events that have happened
  const Section* section = nullptr;
  double total = -1;
};

void raise(Moment& highest, double value, std::size_t at, const Section* section) {
  if (value > highest.total) highest = {at, section, value};
}

// Walks the list and keeps when it is highest in each piece and component.
struct Walk {
  std::vector<Moment> pieces;
  std::array<Moment, component_count> by_component;
  Snapshot live;
  double total = 0;

  void look(std::size_t at, const Section* section) { raise(pieces.back(), total, at, section); }
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
    const Component* grown = apply(event, component_of);
    if (!event.whole) return;
    if (grown != nullptr) raise(by_component[static_cast<std::size_t>(*grown)], live[*grown], at, section);
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
    const std::size_t step = merged == 1 ? (section.to - section.from) / parts + 1 : run.events.size();
    for (std::size_t from = section.from; from < section.to; from += step) {
      if (from > section.from) walk.pieces.emplace_back();
      const std::size_t to = std::min(section.to, from + step);
      for (std::size_t i = from; i < to; ++i) walk.draw(run.events[i], component_of, i + 1, &section);
    }
  }
  return walk;
}

// Counts equal tensors at the points that are kept. Most tensors live between two of them and are never
// counted.
class Census {
 public:
  Census(const Unrolled& run, std::size_t most_points)
      : run_(run), stride_(most_points + 1), lives_(run.tensors) {
    more_.reserve(usual_rows * stride_);
  }

  Snapshot live;
  std::size_t points = 0;  // that lie behind

  void apply(std::size_t at) {
    const Event& event = run_.events[at];
    Life& life = lives_[event.tensor];
    if (event.kind != Event::Kind::allocate) end(life, event.bytes);
    if (event.kind == Event::Kind::release) {
      life.event = over;
      return;
    }
    life = {static_cast<uint32_t>(at), static_cast<uint32_t>(points)};
    live[event.component] += event.bytes;
  }
  // Rows in the order in which their tensors appear.
  std::vector<TensorCounts> rows() {
    for (const Life& life : lives_)
      if (life.event != over) end(life, 0);
    std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.first < b.first; });
    std::vector<TensorCounts> counted;
    counted.reserve(rows_.size());
    for (const Row& row : rows_) {
      const Event& event = run_.events[row.first];
      counted.push_back({event.component, event.what, event.bytes, changes(&more_[row.begin])});
    }
    return counted;
  }

 private:
  static constexpr std::size_t usual_rows = 128;
  static constexpr uint32_t over = UINT32_MAX;
  struct Life {
    uint32_t event = over;  // that made the tensor what it is
    uint32_t point = 0;     // the first one that may see it
  };
  struct Row {
    std::size_t first = 0;  // event
    std::size_t begin = 0;  // of its points in more_
  };

  void end(const Life& life, double bytes) {
    const Event& began = run_.events[life.event];
    live[began.component] -= bytes;
    if (life.point == points) return;
    Row& row = row_for(began, life.event);
    row.first = std::min<std::size_t>(row.first, life.event);
    int32_t* const more = &more_[row.begin];
    ++more[life.point];
    --more[points];
  }
  std::vector<TensorCounts::Change> changes(const int32_t* more) const {
    const auto many = static_cast<std::size_t>(
        std::count_if(more, more + points, [](int32_t change) { return change != 0; }));
    std::vector<TensorCounts::Change> all;
    all.reserve(many);
    int32_t count = 0;
    for (std::size_t point = 0; all.size() < many; ++point) {
      count += more[point];
      if (more[point] != 0) all.push_back({point, static_cast<uint64_t>(count)});
    }
    return all;
  }
  // The operations' names are literals, of which few are repeated: most tensors find their row by address.
  Row& row_for(const Event& e, std::size_t at) {
    const uint64_t both = static_cast<uint64_t>(e.bytes) * 31 + std::hash<const char*>()(e.what);
    Seen& seen = seen_[(both * 0x9E3779B97F4A7C15u) >> 55];
    if (seen.what != e.what || seen.bytes != e.bytes || seen.component != e.component) {
      const auto [found, is_new] =
          row_of_.try_emplace({e.component, e.bytes, std::string_view(e.what)}, rows_.size());
      if (is_new) {
        rows_.push_back({at, more_.size()});
        more_.resize(more_.size() + stride_);
      }
      seen = {e.what, e.bytes, e.component, found->second};
    }
    return rows_[seen.row];
  }

  struct Seen {
    const char* what = nullptr;
    double bytes = 0;
    Component component = Component::transient;
    std::size_t row = 0;
  };

  const Unrolled& run_;
  std::size_t stride_;         // of a row in more_
  std::vector<Life> lives_;    // by tensor
  std::vector<int32_t> more_;  // than at the point before, by row and point
  std::map<std::tuple<Component, double, std::string_view>, std::size_t> row_of_;
  std::array<Seen, 512> seen_{};
  std::vector<Row> rows_;
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
  moments.insert(moments.end(), seen.by_component.begin(), seen.by_component.end());
  moments.erase(
      std::remove_if(moments.begin(), moments.end(), [](const Moment& m) { return m.section == nullptr; }),
      moments.end());
  std::stable_sort(moments.begin(), moments.end(),
                   [](const Moment& a, const Moment& b) { return a.at < b.at; });
  Timeline result;
  Census census(run, moments.size());
  result.points.reserve(moments.size());
  std::size_t happened = 0;
  double highest = -1;
  const Moment* last = nullptr;
  for (const Moment& moment : moments) {
    if (last != nullptr && moment.at == last->at && moment.section->phase == last->section->phase) continue;
    last = &moment;
    for (; happened < moment.at; ++happened) census.apply(happened);
    const double total = census.live.total();
    if (total > highest) {
      highest = total;
      result.peak = census.points;
    }
    const Section& s = *moment.section;
    result.points.push_back({s.phase, s.micro_batch, s.layer, s.part, census.live});
    ++census.points;
  }
  result.tensors = census.rows();
  return result;
}

}  // namespace plimsoll::memory
