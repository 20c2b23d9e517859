#include "core/memory/allocator/free_blocks.h"

#include <algorithm>
#include <bit>

namespace plimsoll::memory {

namespace {

// Larger sizes have higher bins: eight for each power of two, from 8 units of 512 bytes on.
std::size_t bin_of(uint64_t size) {
  const uint64_t units = size >> 9;
  if (units < 8) return static_cast<std::size_t>(units);
  const auto width = static_cast<std::size_t>(std::bit_width(units));
  return (width - 3) * 8 + static_cast<std::size_t>(units >> (width - 4) & 7);
}

// Where an entry belongs in a list that falls.
template <class List>
auto place_of(List& list, const FreeBlock& entry) {
  return std::partition_point(list.begin(), list.end(),
                              [&](const FreeBlock& other) { return entry < other; });
}

}  // namespace

void FreeBlocks::insert(const FreeBlock& entry) {
  const std::size_t bin = bin_of(entry.size);
  std::vector<FreeBlock>& list = bins_[bin];
  if (list.empty() || entry < list.back()) {
    list.push_back(entry);
  } else {
    list.insert(place_of(list, entry), entry);
  }
  filled_[bin / 64] |= uint64_t{1} << bin % 64;
}

void FreeBlocks::erase(const FreeBlock& entry) {
  const std::size_t bin = bin_of(entry.size);
  std::vector<FreeBlock>& list = bins_[bin];
  if (list.back().block == entry.block) {
    list.pop_back();
  } else {
    list.erase(place_of(list, entry));
  }
  if (list.empty()) filled_[bin / 64] &= ~(uint64_t{1} << bin % 64);
}

const FreeBlock* FreeBlocks::first_from(const FreeBlock& key) const {
  const std::size_t bin = bin_of(key.size);
  const std::vector<FreeBlock>& list = bins_[bin];
  if (!list.empty() && !(list.front() < key)) {
    if (!(list.back() < key)) return &list.back();
    auto at = place_of(list, key);
    if (at == list.end() || key < *at || *at < key) --at;
    return &*at;
  }
  std::size_t word = bin / 64;
  uint64_t higher = filled_[word] & ~(~uint64_t{0} >> (63 - bin % 64));
  while (higher == 0) {
    if (++word == words) return nullptr;
    higher = filled_[word];
  }
  return &bins_[64 * word + static_cast<std::size_t>(std::countr_zero(higher))].back();
}

}  // namespace plimsoll::memory
