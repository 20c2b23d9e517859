#include "core/advice/space.h"

#include <algorithm>

#include "core/recipe/locks.h"

namespace plimsoll::advice {

std::size_t Space::find(std::string_view slot) const {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].name == slot) return i;
  }
  return slots.size();
}

Space open_choices(const FixContext& situation, const std::vector<std::string>& locks) {
  return open_choices(situation, locks, fixes());
}

Space open_choices(const FixContext& situation, const std::vector<std::string>& locks,
                   std::span<const Fix* const> some) {
  Space space;
  for (const Fix* fix : some) {
    for (Level& level : levels_of(*fix, situation)) {
      if (recipe::moves_locked(level.changes, locks)) continue;
      std::size_t place = space.find(fix->slot);
      if (place == space.slots.size()) {
        space.slots.push_back({fix->slot, fix->kind, {Option{}}});
      }
      space.slots[place].options.push_back({fix, std::move(level)});
    }
  }
  return space;
}

int changes_in(const Choice& choice) {
  int count = 0;
  for (uint8_t option : choice) count += option != 0;
  return count;
}

bool takes(const Space& space, const Choice& choice, std::string_view fix) {
  for (std::size_t i = 0; i < space.slots.size(); ++i) {
    if (choice[i] != 0 && space.slots[i].options[choice[i]].fix->id == fix) return true;
  }
  return false;
}

int heaviest_in(const Space& space, const Choice& choice) {
  int most = 0;
  for (std::size_t i = 0; i < space.slots.size(); ++i) {
    most = std::max(most, space.slots[i].options[choice[i]].level.quality);
  }
  return most;
}

int quality_of(const Space& space, const Choice& choice) {
  int sum = 0;
  for (std::size_t i = 0; i < space.slots.size(); ++i) sum += space.slots[i].options[choice[i]].level.quality;
  return sum;
}

void add_options(std::vector<Choice>& choices, const Space& space, std::size_t slot, std::size_t first) {
  const std::size_t before = choices.size();
  for (std::size_t option = first; option < space.slots[slot].options.size(); ++option) {
    for (std::size_t i = 0; i < before; ++i) {
      Choice next = choices[i];
      next[slot] = static_cast<uint8_t>(option);
      choices.push_back(next);
    }
  }
}

recipe::Values changes_of(const Space& space, const Choice& choice) {
  recipe::Values changes;
  // A scale has the last word: a choice may hold a field where it is that a scale moves.
  for (const FixKind kind : {FixKind::choice, FixKind::scale}) {
    for (std::size_t i = 0; i < space.slots.size(); ++i) {
      if (space.slots[i].kind != kind) continue;
      for (const auto& [pointer, value] : space.slots[i].options[choice[i]].level.changes) {
        changes[pointer] = value;
      }
    }
  }
  return changes;
}

}  // namespace plimsoll::advice
