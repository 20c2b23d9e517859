// PyTorch's caching allocator, as it splits, joins and keeps what the driver gave it.
//
//     CachingAllocator cuda(read_allocator_settings("expandable_segments:True"));
//     const uint32_t a = cuda.allocate(130023424);
//     cuda.release(a);
//     cuda.reserved();                    // 130023424 and some: what is freed stays reserved
//     cuda.peak_allocated();              // torch.cuda.max_memory_allocated()
//
// Rules: pytorch/pytorch c10/cuda/CUDACachingAllocator.cpp (round_size, get_allocation_size, get_free_block,
// should_split, free_block, alloc_block, release_cached_blocks, garbage_collect_cached_blocks) and
// c10/cuda/CUDAAllocatorConfig.h. One device. A block that was made in one stream is lent to no other; what
// is reserved, and what is given back when a request fails, is that of all.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/memory/allocator/free_blocks.h"

namespace plimsoll::memory {

/// PYTORCH_CUDA_ALLOC_CONF, as far as it decides what is held.
struct AllocatorSettings {
  bool expandable_segments = false;
  uint64_t max_split_size = UINT64_MAX;     ///< bytes: larger blocks are never split
  uint64_t roundup_power2_divisions = 0;    ///< 0: requests are rounded to 512 bytes alone
  double garbage_collection_threshold = 0;  ///< share of the device; 0: off
};
/// Words that it does not know are passed over, as they are in PyTorch's newer versions for an older reader.
AllocatorSettings read_allocator_settings(std::string_view conf);

/// What one request takes, before a block is looked for.
uint64_t rounded_request(uint64_t bytes, const AllocatorSettings& settings);

class CachingAllocator {
 public:
  static constexpr uint32_t none = UINT32_MAX;

  /// `capacity`: bytes that the driver can give; a request beyond it first returns what is cached.
  /// `frugal`: free segments go back before every new one, so that as little as possible is held.
  explicit CachingAllocator(const AllocatorSettings& settings, uint64_t capacity = UINT64_MAX,
                            bool frugal = false)
      : settings_(settings), capacity_(capacity), frugal_(frugal) {}

  static constexpr std::size_t streams = 3;
  /// The block, or `none`: out of memory.
  uint32_t allocate(uint64_t bytes, std::size_t stream = 0);
  void release(uint32_t block);
  void empty_cache();

  uint64_t allocated() const { return allocated_; }
  uint64_t reserved() const { return reserved_; }
  uint64_t peak_allocated() const { return peak_allocated_; }
  uint64_t peak_reserved() const { return peak_reserved_; }
  /// Begins new peaks.
  void mark();
  /// How often cached blocks had to be given back to the driver because a request failed.
  uint64_t retries() const { return retries_; }

 private:
  struct Block {
    uint64_t address = 0, size = 0;
    uint32_t previous = none, next = none;  // neighbours in the same segment
    bool is_segment() const { return previous == none && next == none; }
    uint8_t pool = 0;
    bool free = false;
  };
  struct Pool {
    FreeBlocks free;
    std::size_t free_segments = 0;  // of the free blocks, those that are a whole segment
    uint32_t tail = none;           // last block of the expandable segment
  };

  uint32_t new_block(const Block& block);
  void insert(uint32_t block);
  void erase(uint32_t block);
  uint32_t best_fit(const Pool& pool, uint64_t size) const;
  uint32_t new_segment(std::size_t pool, uint64_t size);
  uint32_t expand(std::size_t pool, uint64_t size);
  uint64_t room_beside(uint64_t bytes) const;
  bool make_room(uint64_t bytes);
  void give_back(Pool& pool, uint64_t at_least, uint64_t from_size);
  static uint64_t whole_pages(const Block& block);
  void split(uint32_t block, uint64_t size);

  AllocatorSettings settings_;
  uint64_t capacity_;
  bool frugal_;
  std::array<Pool, 2 * streams> pools_;  // small and large of each stream
  std::vector<Block> blocks_;
  std::vector<uint32_t> unused_;
  uint64_t next_address_ = 0;
  uint64_t unmappable_ =
      0;  // bytes of whole pages inside free blocks, which the driver can take back one by one
  uint64_t allocated_ = 0, reserved_ = 0, peak_allocated_ = 0, peak_reserved_ = 0, retries_ = 0;
};

}  // namespace plimsoll::memory
