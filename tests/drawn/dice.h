// Numbers drawn by a fixed rule, the same on every platform.
//
//     Dice dice(seed);
//     dice.one_of(models);
#pragma once

#include <cstdint>

namespace plimsoll {

// Knuth's MMIX generator; its high bits are used.
class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed * 2862933555777941757u + 3037000493u) { draw(8); }
  uint64_t draw(uint64_t sides) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return (state_ >> 33) % sides;
  }
  bool one_in(uint64_t sides) { return draw(sides) == 0; }
  template <typename List>
  auto one_of(const List& list) {
    return list[draw(list.size())];
  }

 private:
  uint64_t state_;
};

}  // namespace plimsoll
