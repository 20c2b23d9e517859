// The choices that are open to a plan: one slot for each thing that can be changed one way or another.
//
//     Space space = open_choices(situation, locks);
//     Choice choice{};                            // nothing changed
//     choice[space.find("micro_batch")] = 2;      // its second level
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/advice/fix.h"

namespace plimsoll::advice {

struct Option {
  const Fix* fix = nullptr;  ///< null: as it is
  Level level;
};

struct Slot {
  std::string_view name;
  FixKind kind = FixKind::choice;
  std::vector<Option> options;  ///< the first one leaves everything as it is

  /// Of a scale: the option that needs least of those that `option` stands among.
  std::size_t end_for(std::size_t option) const {
    const std::size_t last = options.size() - 1;
    if (options[last].level.uneven) return std::max<std::size_t>(1, option);
    return options[last].level.apart && option < last ? last - 1 : last;
  }
};

/// As many as the fixes name, filled up to whole words of the hash; search_test.cpp counts them.
constexpr std::size_t most_slots = 32;
static_assert(most_slots % 8 == 0);
/// The option taken in each slot.
using Choice = std::array<uint8_t, most_slots>;
struct ChoiceHash {
  std::size_t operator()(const Choice& choice) const {
    uint64_t words[most_slots / 8], sum = 0;
    std::memcpy(words, choice.data(), sizeof words);
    for (const uint64_t word : words) sum = (sum ^ word) * 0x9E3779B97F4A7C15u;
    return static_cast<std::size_t>(sum ^ sum >> 32);
  }
};

struct Space {
  std::vector<Slot> slots;
  /// Place of a slot, or slots.size().
  std::size_t find(std::string_view slot) const;
};

/// Every fix that applies and touches no locked field.
Space open_choices(const FixContext& situation, const std::vector<std::string>& locks);
/// The same from some fixes only.
Space open_choices(const FixContext& situation, const std::vector<std::string>& locks,
                   std::span<const Fix* const> some);

int changes_in(const Choice& choice);
/// Whether it takes that fix.
bool takes(const Space& space, const Choice& choice, std::string_view fix);
int quality_of(const Space& space, const Choice& choice);
/// The cost of its heaviest single change: three changes of parity are still parity.
int heaviest_in(const Space& space, const Choice& choice);
/// To each of `choices` those that set the slot too, to its options from `first` on.
void add_options(std::vector<Choice>& choices, const Space& space, std::size_t slot, std::size_t first);
/// Fields that a choice sets.
recipe::Values changes_of(const Space& space, const Choice& choice);

}  // namespace plimsoll::advice
