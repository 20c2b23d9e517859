// Entries of a search in the order of what they cost in quality.
//
//     sort_by_quality(entries);    // a member `quality`, small and not negative
//
// There may be a million of them, and the costs are few: each is put in its place at once.
#pragma once

#include <cstddef>
#include <vector>

namespace plimsoll::advice {

/// Least cost in quality first, else in the order they have.
template <typename Entry>
void sort_by_quality(std::vector<Entry>& entries) {
  std::vector<std::size_t> next(1, 0);  // by cost: where its next entry goes
  for (const Entry& entry : entries) {
    const auto cost = static_cast<std::size_t>(entry.quality);
    if (next.size() <= cost + 1) next.resize(cost + 2, 0);
    ++next[cost + 1];
  }
  for (std::size_t cost = 1; cost < next.size(); ++cost) next[cost] += next[cost - 1];
  std::vector<Entry> sorted(entries.size());
  for (const Entry& entry : entries) sorted[next[static_cast<std::size_t>(entry.quality)]++] = entry;
  entries.swap(sorted);
}

}  // namespace plimsoll::advice
