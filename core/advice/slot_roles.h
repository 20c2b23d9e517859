// What an option of each slot asks of whoever prices it: to resolve the request anew, to replay it, or no more
// than a correction of what was replayed.
//
//     const SlotRoles roles(basis, space);
//     roles.is_cheap(space.find("optimizer"));     // true where an optimizer changes the step alone
#pragma once

#include <array>
#include <vector>

#include "core/advice/change.h"
#include "core/advice/space.h"

namespace plimsoll::advice {

enum class SlotRole : uint8_t {
  structure,   ///< resolved from the beginning
  scale,       ///< set in a resolved recipe, which is replayed
  optimizer,   ///< the rest are cheap: their effect is added to a replay
  allocator,   ///< its settings change no time
  evaluation,  ///< training knows nothing of it: neither its memory nor its time
};

class SlotRoles {
 public:
  SlotRoles(const Basis& basis, const Space& space);

  SlotRole of(std::size_t slot) const { return roles_[slot]; }
  bool is_cheap(std::size_t slot) const { return roles_[slot] >= SlotRole::optimizer; }
  bool is_evaluation(std::size_t slot) const { return roles_[slot] == SlotRole::evaluation; }
  const std::vector<std::size_t>& cheap() const { return cheap_; }
  /// Numbers what is chosen in the cheap slots, from 0 to below cheap_places().
  std::size_t cheap_place(const Choice& choice) const;
  std::size_t cheap_places() const { return cheap_places_; }
  bool any_evaluation() const { return masks_[index(SlotRole::evaluation)] != Choice{}; }

  /// The option of the optimizer's slot; 0 where there is none or it is not cheap.
  std::size_t optimizer_in(const Choice& choice) const;
  /// A choice with nothing chosen but in slots of this role, and with nothing chosen in these.
  Choice only(SlotRole role, const Choice& choice) const { return masked(choice, masks_[index(role)]); }
  Choice without_evaluation(const Choice& choice) const { return masked(choice, training_); }
  Choice without_cheap(const Choice& choice) const { return masked(choice, replayed_); }

 private:
  static std::size_t index(SlotRole role) { return static_cast<std::size_t>(role); }
  static Choice masked(const Choice& choice, const Choice& mask);

  std::vector<SlotRole> roles_;
  std::array<Choice, 5> masks_{};                   ///< by role: all bits of its slots
  Choice training_{}, replayed_{};                  ///< of all roles but evaluation; of structure and scales
  std::vector<std::size_t> cheap_, cheap_options_;  ///< slots, and how many options each has
  std::size_t cheap_places_ = 1;
  std::size_t optimizer_ = most_slots;  ///< its slot, or none
};

}  // namespace plimsoll::advice
