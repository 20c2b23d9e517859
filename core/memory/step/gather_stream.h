// What the stream in which FSDP gathers parameters keeps: blocks of units that are no longer alive.
//
//     GatherStream stream(run.sharding);
//     for (const Instant& instant : run.instants) stream.add(instant, instant.live);
//     stream.kept_at(run.at_peak(), run.at_peak().live);      // Instant::gathered_before
//
// FSDP gathers in a stream of its own, and the allocator lends a stream's blocks to no other: what the unit before
// and the unit after took stays with that stream. Of 45 published FSDP runs on two and four A100, what was held
// beyond the tensors and the usual share falls from 2.9 GiB to 0.6, median (foundation-model-stack/fms-acceleration
// scripts/benchmarks/refs).
#pragma once

#include "core/memory/step/replay.h"

namespace plimsoll::memory {

class GatherStream {
 public:
  explicit GatherStream(const Sharding& rank);
  /// `live`: what is there at the instant, which may be another than its own.
  void add(const Instant& instant, const Snapshot& live);
  /// Bytes, once every instant has been added; 0 before the first unit was gathered, and without FSDP.
  double kept_at(const Instant& instant, const Snapshot& live) const;
  /// The same at the run's highest instant, where the run holds what any of its instants does: a model that is
  /// loaded whole before its first unit is gathered, a large unit that is gathered to be saved.
  double kept_at_peak(const Instant& instant, const Snapshot& live) const;

 private:
  double now(const Snapshot& live) const;
  const bool fsdp_;
  const double throughout_;  // the root and the head stay gathered
  double unit_ = 0;          // the most that a step gathers at once
  double beside_ = 0;        // the most that is there besides
  double largest_ = 0;       // the most that an instant holds with two more of the unit that it gathers
};

}  // namespace plimsoll::memory
