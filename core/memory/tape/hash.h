// Words put into one number, to look up what was done before.
//
//     Hash hash;
//     hash.add(layer.batch);
//     known[hash.value];
#pragma once

#include <cstdint>
#include <cstring>

namespace plimsoll::memory {

struct Hash {
  uint64_t value = 14695981039346656037ULL;

  void add(uint64_t word) {
    value = (value ^ word) * 1099511628211ULL;
    value ^= value >> 29;
  }
  void add(double number) {
    uint64_t word = 0;
    std::memcpy(&word, &number, sizeof word);
    add(word);
  }
};

}  // namespace plimsoll::memory
