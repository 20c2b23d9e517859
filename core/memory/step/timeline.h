// The memory of a step over time, short enough to draw: load, preparation, then a later step from its first
// forward to the optimizer.
//
//     Timeline t = timeline(unroll(network, recipe, machine));
//     for (const Point& p : t.points) draw(p.live);            // at most 400, highest moments of equal pieces
//     t.points[t.peak].live.total();                            // Replay::instants[peak].live.total()
//     for (const Alive& row : t.alive_at(17)) print(row.what, row.count);   // the tensors at any point
//
// A point is the highest moment of a piece of the list; the moments at which the sum of an instant, or one
// component of the whole run, is highest are always among them.
#pragma once

#include "core/memory/step/unroll.h"

namespace plimsoll::memory {

struct Point {
  Phase phase = Phase::load;
  uint8_t micro_batch = 0;  ///< 1: makes the gradients, 2: adds to them; 0: outside forward and backward
  int32_t layer = -1;       ///< at work, counted from 0 in its part; -1: none
  const char* part = "";    ///< "text", "vision", "head", "optimizer", ...
  Snapshot live;
};

/// Equal tensors that are alive at one moment.
struct Alive {
  Component component = Component::transient;
  const char* what = "";  ///< the operation that made them
  double bytes = 0;       ///< of one
  uint64_t count = 0;
};

/// Equal tensors over all points.
struct TensorCounts {
  struct Change {
    std::size_t point = 0;  ///< from this one on
    uint64_t count = 0;     ///< so many are alive
  };
  Component component = Component::transient;
  const char* what = "";
  double bytes = 0;             ///< of one
  std::vector<Change> changes;  ///< in the order of time; none are alive before the first
};

struct Timeline {
  std::vector<Point> points;
  std::size_t peak = 0;               ///< the highest of them
  std::vector<TensorCounts> tensors;  ///< those alive at one point or more, in the order in which they appear

  /// Largest sum first.
  std::vector<Alive> alive_at(std::size_t point) const;
};

constexpr std::size_t most_points = 400;

Timeline timeline(const Unrolled& run);

}  // namespace plimsoll::memory
