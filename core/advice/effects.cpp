#include "core/advice/effects.h"

#include <algorithm>

#include "core/memory/parameters/parameters.h"
#include "core/recipe/locks.h"

namespace plimsoll::advice {

Effects::Effects(const Basis& basis, const Space& space, const SlotRoles& roles) {
  const auto effect = [&basis](const std::string& pointer, const json::Json& value) -> Field {
    const recipe::Field* field = recipe::find_field(pointer);
    const bool sets = field != nullptr && field->set != nullptr;
    return {sets ? field : nullptr, value, recipe::is_locked(pointer, basis.locks)};
  };
  for (std::size_t slot = 0; slot < space.slots.size(); ++slot) {
    bool weightless = roles.of(slot) == SlotRole::scale;
    auto& by_option = fields_.emplace_back();
    for (const Option& option : space.slots[slot].options) {
      auto& fields = by_option.emplace_back();
      if (option.fix == nullptr || roles.of(slot) == SlotRole::structure) continue;
      if (roles.is_cheap(slot)) {
        for (const auto& [pointer, value] : option.level.changes) fields.push_back(effect(pointer, value));
        continue;
      }
      json::Errors ignored;
      const recipe::Resolved after = resolve_with(basis, option.level.changes, ignored);
      for (const auto& [pointer, value] : moved(basis, after.values)) {
        fields.push_back(effect(pointer, value));
      }
      weightless = weightless && std::all_of(fields.begin(), fields.end(), [](const Field& one) {
                     return one.field != nullptr && memory::weighs_nothing(one.field->pointer);
                   });
    }
    weightless_.push_back(weightless);
  }
}

bool Effects::set(std::size_t slot, std::size_t option, recipe::Recipe& recipe) const {
  bool allowed = true;
  for (const Field& one : fields_[slot][option]) {
    if (one.field != nullptr) one.field->set(recipe, one.value);
    allowed = allowed && !one.locked;
  }
  return allowed;
}

}  // namespace plimsoll::advice
