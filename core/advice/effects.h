// What the options of scales and of cheap slots set in a recipe that is resolved already.
//
//     const Effects effects(basis, space, roles);
//     effects.set(slot, option, recipe);     // false: a locked field would move
#pragma once

#include <vector>

#include "core/advice/slot_roles.h"
#include "core/recipe/fields.h"

namespace plimsoll::advice {

class Effects {
 public:
  Effects(const Basis& basis, const Space& space, const SlotRoles& roles);

  bool set(std::size_t slot, std::size_t option, recipe::Recipe& recipe) const;
  /// Whether no option of a scale changes a parameter.
  bool weighs_nothing(std::size_t slot) const { return weightless_[slot]; }

 private:
  struct Field {
    const recipe::Field* field;  ///< null: known by no setter
    json::Json value;
    bool locked;
  };
  std::vector<std::vector<std::vector<Field>>>
      fields_;                    ///< by slot and option: defaults that follow included
  std::vector<bool> weightless_;  ///< by slot
};

}  // namespace plimsoll::advice
