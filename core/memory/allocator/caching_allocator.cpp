#include "core/memory/allocator/caching_allocator.h"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace plimsoll::memory {

namespace {

constexpr uint64_t mib = 1048576;
constexpr uint64_t smallest_block = 512;
constexpr uint64_t small_request = mib;          // kSmallSize: up to here from the small pool
constexpr uint64_t small_segment = 2 * mib;      // kSmallBuffer
constexpr uint64_t large_segment = 20 * mib;     // kLargeBuffer
constexpr uint64_t own_segment_from = 10 * mib;  // kMinLargeAlloc
constexpr uint64_t own_segment_unit = 2 * mib;   // kRoundLarge

constexpr uint64_t pools_apart = large_segment << 26;  // addresses of expandable segments

uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

// Of each stream the small pool comes first.
bool is_small(std::size_t pool) { return pool % 2 == 0; }
uint64_t page_of(std::size_t pool) { return is_small(pool) ? small_segment : large_segment; }

uint64_t segment_for(uint64_t size) {
  if (size <= small_request) return small_segment;
  return size < own_segment_from ? large_segment : round_up(size, own_segment_unit);
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// The value behind `key:` in "a:1, b:2"; empty when it is not there. PyTorch skips blanks
// (c10/core/AllocatorConfig.h ConfigTokenizer).
std::string value_of(std::string_view conf, std::string_view key) {
  std::size_t from = 0;
  while (from < conf.size()) {
    std::size_t to = conf.find(',', from);
    if (to == std::string_view::npos) to = conf.size();
    const std::string_view entry = without_blanks(conf.substr(from, to - from));
    if (entry.substr(0, key.size()) == key && entry.size() > key.size() && entry[key.size()] == ':') {
      return std::string(without_blanks(entry.substr(key.size() + 1)));
    }
    from = to + 1;
  }
  return "";
}

}  // namespace

AllocatorSettings read_allocator_settings(std::string_view conf) {
  AllocatorSettings settings;
  settings.expandable_segments = value_of(conf, "expandable_segments") == "True";
  const std::string split = value_of(conf, "max_split_size_mb");
  if (!split.empty()) settings.max_split_size = std::strtoull(split.c_str(), nullptr, 10) * mib;
  const std::string divisions = value_of(conf, "roundup_power2_divisions");
  if (!divisions.empty()) settings.roundup_power2_divisions = std::strtoull(divisions.c_str(), nullptr, 10);
  const std::string threshold = value_of(conf, "garbage_collection_threshold");
  if (!threshold.empty()) settings.garbage_collection_threshold = std::strtod(threshold.c_str(), nullptr);
  return settings;
}

uint64_t rounded_request(uint64_t bytes, const AllocatorSettings& settings) {
  if (bytes < smallest_block) return smallest_block;
  const uint64_t divisions = settings.roundup_power2_divisions;
  if (divisions > 1 && bytes > smallest_block * divisions) {
    uint64_t power = 1;
    while (power * 2 <= bytes) power *= 2;
    if (power == bytes) return bytes;
    return round_up(bytes, std::max(smallest_block, power / divisions));
  }
  return round_up(bytes, smallest_block);
}

uint32_t CachingAllocator::new_block(const Block& block) {
  if (unused_.empty()) {
    blocks_.push_back(block);
    return static_cast<uint32_t>(blocks_.size() - 1);
  }
  const uint32_t id = unused_.back();
  unused_.pop_back();
  blocks_[id] = block;
  return id;
}

uint64_t CachingAllocator::whole_pages(const Block& block) {
  const uint64_t page = page_of(block.pool);
  const uint64_t first = round_up(block.address, page);
  const uint64_t last = (block.address + block.size) / page * page;
  return last > first ? last - first : 0;
}

void CachingAllocator::insert(uint32_t id) {
  Block& block = blocks_[id];
  block.free = true;
  Pool& pool = pools_[block.pool];
  pool.free.insert({block.size, block.address, id});
  pool.free_segments += block.is_segment();
  if (settings_.expandable_segments) unmappable_ += whole_pages(block);
}

void CachingAllocator::erase(uint32_t id) {
  Block& block = blocks_[id];
  block.free = false;
  Pool& pool = pools_[block.pool];
  pool.free.erase({block.size, block.address, id});
  pool.free_segments -= block.is_segment();
  if (settings_.expandable_segments) unmappable_ -= whole_pages(block);
}

uint32_t CachingAllocator::best_fit(const Pool& pool, uint64_t size) const {
  const FreeBlock* best = pool.free.first_from({.size = size});
  if (best == nullptr) return none;
  // The end of an expandable segment counts as endless: any other block that is large enough fits better.
  if (settings_.expandable_segments) {
    if (best->block != pool.tail) return best->block;
    const FreeBlock* next = pool.free.first_from({.size = best->size, .address = best->address + 1});
    return next == nullptr ? best->block : next->block;
  }
  if (size < settings_.max_split_size && best->size >= settings_.max_split_size) return none;
  if (size >= settings_.max_split_size && best->size >= size + large_segment) return none;
  return best->block;
}

// Whole free segments return to the driver, the largest first, until `at_least` bytes are back.
void CachingAllocator::give_back(Pool& pool, uint64_t at_least, uint64_t from_size) {
  if (pool.free_segments == 0) return;
  uint64_t given = 0;
  pool.free.sweep([&](const FreeBlock& entry) {
    const Block& block = blocks_[entry.block];
    if (given >= at_least || !block.is_segment() || entry.size < from_size) return false;
    reserved_ -= entry.size;
    given += entry.size;
    --pool.free_segments;
    if (settings_.expandable_segments) unmappable_ -= whole_pages(block);
    if (pool.tail == entry.block) pool.tail = none;
    unused_.push_back(entry.block);
    return true;
  });
}

void CachingAllocator::empty_cache() {
  if (settings_.expandable_segments) {
    for (std::size_t p = 0; p < pools_.size(); ++p) {  // the free end of each segment
      Pool& pool = pools_[p];
      if (pool.tail == none || !blocks_[pool.tail].free) continue;
      const uint64_t page = page_of(p);
      const uint32_t tail = pool.tail;
      const uint64_t end = blocks_[tail].address + blocks_[tail].size;
      const uint64_t keep = round_up(blocks_[tail].address, page);
      if (keep >= end) continue;
      erase(tail);
      reserved_ -= end - keep;
      blocks_[tail].size = keep - blocks_[tail].address;
      if (blocks_[tail].size > 0) {
        insert(tail);
      } else {
        pool.tail = blocks_[tail].previous;
        if (pool.tail != none) blocks_[pool.tail].next = none;
        unused_.push_back(tail);
      }
    }
    return;
  }
  for (Pool& pool : pools_) give_back(pool, UINT64_MAX, 0);
}

uint64_t CachingAllocator::room_beside(uint64_t bytes) const {
  return capacity_ - std::min(bytes, capacity_);
}

bool CachingAllocator::make_room(uint64_t bytes) {
  if (frugal_) empty_cache();
  if (settings_.garbage_collection_threshold > 0 && capacity_ != UINT64_MAX) {
    const auto limit =
        static_cast<uint64_t>(settings_.garbage_collection_threshold * static_cast<double>(capacity_));
    for (std::size_t p = 1; p < pools_.size() && reserved_ + bytes > limit; p += 2)
      give_back(pools_[p], reserved_ + bytes - limit, 0);
  }
  if (bytes <= room_beside(reserved_)) return true;
  ++retries_;
  if (settings_.max_split_size != UINT64_MAX) {
    for (std::size_t p = 1; p < pools_.size(); p += 2) give_back(pools_[p], bytes, settings_.max_split_size);
    if (bytes <= room_beside(reserved_)) return true;
  }
  const uint64_t pages = settings_.expandable_segments ? unmappable_ : 0;
  if (pages == 0) empty_cache();
  return bytes <= room_beside(reserved_ - std::min(pages, reserved_));
}

uint32_t CachingAllocator::new_segment(std::size_t pool, uint64_t size) {
  const uint64_t bytes = segment_for(size);
  if (!make_room(bytes)) return none;
  Block block;
  block.address = next_address_;
  block.size = bytes;
  block.pool = static_cast<uint8_t>(pool);
  next_address_ += bytes + own_segment_unit;
  reserved_ += bytes;
  return new_block(block);
}

// One segment a pool that grows by pages of 2 or 20 MiB.
uint32_t CachingAllocator::expand(std::size_t of, uint64_t size) {
  Pool& pool = pools_[of];
  uint32_t tail = pool.tail;
  const bool open = tail != none && blocks_[tail].free;
  const uint64_t present = open ? blocks_[tail].size : 0;
  const uint64_t growth = round_up(size - std::min(size, present), page_of(of));
  if (!make_room(growth)) return none;
  tail = pool.tail;
  if (tail != none && blocks_[tail].free) {
    erase(tail);
    blocks_[tail].size += growth;
  } else {
    Block block;
    block.pool = static_cast<uint8_t>(of);
    block.size = growth;
    block.previous = tail;
    block.address = tail == none ? of * pools_apart : blocks_[tail].address + blocks_[tail].size;
    const uint32_t made = new_block(block);
    if (tail != none) blocks_[tail].next = made;
    pool.tail = tail = made;
  }
  reserved_ += growth;
  if (blocks_[tail].size < size) return expand(of, size);
  return tail;
}

void CachingAllocator::split(uint32_t id, uint64_t size) {
  const uint64_t rest = blocks_[id].size - size;
  const uint8_t pool = blocks_[id].pool;
  const bool worth = is_small(pool) || settings_.expandable_segments
                         ? rest >= smallest_block
                         : size < settings_.max_split_size && rest > small_request;
  if (!worth) return;
  Block remaining;
  remaining.address = blocks_[id].address + size;
  remaining.size = rest;
  remaining.pool = pool;
  remaining.previous = id;
  remaining.next = blocks_[id].next;
  const uint32_t made = new_block(remaining);
  if (remaining.next != none) blocks_[remaining.next].previous = made;
  blocks_[id].next = made;
  blocks_[id].size = size;
  if (pools_[pool].tail == id) pools_[pool].tail = made;
  insert(made);
}

uint32_t CachingAllocator::allocate(uint64_t bytes, std::size_t stream) {
  const uint64_t size = rounded_request(bytes, settings_);
  const std::size_t pool = 2 * stream + (size <= small_request ? 0 : 1);
  uint32_t id = best_fit(pools_[pool], size);
  if (id != none) {
    erase(id);
  } else {
    id = settings_.expandable_segments ? expand(pool, size) : new_segment(pool, size);
    if (id == none) return none;
  }
  split(id, size);
  allocated_ += blocks_[id].size;
  peak_allocated_ = std::max(peak_allocated_, allocated_);
  const uint64_t held =
      frugal_ && settings_.expandable_segments ? reserved_ - std::min(reserved_, unmappable_) : reserved_;
  peak_reserved_ = std::max(peak_reserved_, held);
  return id;
}

void CachingAllocator::release(uint32_t id) {
  allocated_ -= blocks_[id].size;
  const uint32_t before = blocks_[id].previous, after = blocks_[id].next;
  Pool& pool = pools_[blocks_[id].pool];
  if (before != none && blocks_[before].free) {
    erase(before);
    blocks_[id].address = blocks_[before].address;
    blocks_[id].size += blocks_[before].size;
    blocks_[id].previous = blocks_[before].previous;
    if (blocks_[id].previous != none) blocks_[blocks_[id].previous].next = id;
    unused_.push_back(before);
  }
  if (after != none && blocks_[after].free) {
    erase(after);
    blocks_[id].size += blocks_[after].size;
    blocks_[id].next = blocks_[after].next;
    if (blocks_[id].next != none) blocks_[blocks_[id].next].previous = id;
    if (pool.tail == after) pool.tail = id;
    unused_.push_back(after);
  }
  insert(id);
}

void CachingAllocator::mark() {
  peak_allocated_ = allocated_;
  peak_reserved_ = reserved_;
}

}  // namespace plimsoll::memory
