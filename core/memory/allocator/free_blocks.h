// The free blocks of a pool, found by best fit.
//
//     FreeBlocks free;
//     free.insert({.size = 4096, .address = 0, .block = 7});
//     const FreeBlock* best = free.first_from({.size = 1024});    // the smallest that is large enough
//
// PyTorch keeps them in one set. Here those of about one size share a bin, an eighth of a power of two wide: a run
// of many layers has thousands, and a bin of them is short. It is a list that falls: of one size the lowest address
// is wanted first, and a backward pass frees from high addresses to low ones, so that most comes and goes at the end.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace plimsoll::memory {

struct FreeBlock {
  uint64_t size = 0, address = 0;
  uint32_t block = UINT32_MAX;
  bool operator<(const FreeBlock& other) const {
    return size != other.size ? size < other.size : address < other.address;
  }
};

class FreeBlocks {
 public:
  FreeBlocks() : bins_(64 * words) {}

  void insert(const FreeBlock& entry);
  void erase(const FreeBlock& entry);
  /// The first one that is not below the key, by size and then by address; null: none.
  const FreeBlock* first_from(const FreeBlock& key) const;
  /// All of them, the largest first; those for which `gone` is true are taken out.
  template <class Gone>
  void sweep(const Gone& gone) {
    for (std::size_t word = words; word-- > 0;) {
      for (uint64_t left = filled_[word]; left != 0;) {
        const auto bit = static_cast<std::size_t>(63 - std::countl_zero(left));
        left ^= uint64_t{1} << bit;
        std::vector<FreeBlock>& list = bins_[64 * word + bit];
        std::erase_if(list, gone);
        if (list.empty()) filled_[word] ^= uint64_t{1} << bit;
      }
    }
  }

 private:
  static constexpr std::size_t words = 7;  // 64 bins each: enough for blocks of 2^62 bytes
  std::vector<std::vector<FreeBlock>> bins_;
  std::array<uint64_t, words> filled_{};  ///< a bit for each bin that is not empty
};

}  // namespace plimsoll::memory
