#include "core/memory/step/gather_stream.h"

#include <algorithm>

namespace plimsoll::memory {

namespace {

// The step has begun, or steps have been taken.
bool gathers_before(const Instant& instant) { return repeats(instant) || is_aside(instant.phase); }

}  // namespace

GatherStream::GatherStream(const Sharding& rank)
    : fsdp_(is_fsdp(rank.strategy)), throughout_(rank.root + rank.head) {}

double GatherStream::now(const Snapshot& live) const {
  return std::max(0.0, live[Component::gathered] - throughout_);
}

void GatherStream::add(const Instant& instant, const Snapshot& live) {
  if (repeats(instant)) unit_ = std::max(unit_, now(live));
  if (!gathers_before(instant)) return;
  beside_ = std::max(beside_, live.total() - now(live));
  largest_ = std::max(largest_, live.total() + 2 * now(live));
}

double GatherStream::kept_at(const Instant& instant, const Snapshot& live) const {
  return fsdp_ && gathers_before(instant) ? 3 * std::max(now(live), unit_) - now(live) : 0;
}

double GatherStream::kept_at_peak(const Instant& instant, const Snapshot& live) const {
  if (!fsdp_) return 0;
  return std::max(kept_at(instant, live), std::max(largest_, beside_ + 3 * unit_) - live.total());
}

}  // namespace plimsoll::memory
