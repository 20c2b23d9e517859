#include "core/advice/slot_roles.h"

#include <algorithm>

#include "core/memory/step/other_evaluations.h"
#include "core/recipe/strategies.h"

namespace plimsoll::advice {

namespace {

// Whether the optimizer's options change the step alone. A stack's defaults may follow the optimizer, and of
// layers that are spread over the cards each card steps through its own part.
bool steps_apart(const Basis& basis, const Slot& optimizers) {
  const recipe::Recipe& r = basis.resolved.recipe;
  if (r.parallel.num_gpus > 1 && strategy_of(r) == recipe::Strategy::none) return false;
  json::Errors ignored;
  return std::all_of(optimizers.options.begin(), optimizers.options.end(), [&](const Option& option) {
    const recipe::Values& changes = option.level.changes;
    const recipe::Values fields = moved(basis, resolve_with(basis, changes, ignored).values);
    return std::all_of(fields.begin(), fields.end(),
                       [&](const auto& field) { return changes.count(field.first) != 0; });
  });
}

}  // namespace

SlotRoles::SlotRoles(const Basis& basis, const Space& space) {
  const recipe::Recipe& recipe = basis.resolved.recipe;
  const bool evaluates_apart = memory::evaluates_apart(recipe);
  for (const Slot& slot : space.slots) {
    SlotRole role = slot.kind == FixKind::scale ? SlotRole::scale : SlotRole::structure;
    if (slot.name == "optimizer" && steps_apart(basis, slot)) role = SlotRole::optimizer;
    if (slot.name == "allocator") role = SlotRole::allocator;
    const bool evaluation =
        slot.name == "eval_batch" || slot.name == "eval_accumulation" || slot.name == "eval_outputs";
    if (evaluation && evaluates_apart) role = SlotRole::evaluation;
    const std::size_t place = roles_.size();
    roles_.push_back(role);
    masks_[index(role)][place] = 0xFF;
    if (role != SlotRole::evaluation) training_[place] = 0xFF;
    if (role == SlotRole::optimizer) optimizer_ = place;
    if (!is_cheap(place)) {
      replayed_[place] = 0xFF;
      continue;
    }
    cheap_.push_back(place);
    cheap_options_.push_back(slot.options.size());
    cheap_places_ *= slot.options.size();
  }
}

std::size_t SlotRoles::cheap_place(const Choice& choice) const {
  std::size_t place = 0;
  for (std::size_t i = 0; i < cheap_.size(); ++i) place = place * cheap_options_[i] + choice[cheap_[i]];
  return place;
}

std::size_t SlotRoles::optimizer_in(const Choice& choice) const {
  return optimizer_ < choice.size() ? choice[optimizer_] : 0;
}

Choice SlotRoles::masked(const Choice& choice, const Choice& mask) {
  Choice left{};
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = choice[i] & mask[i];
  return left;
}

}  // namespace plimsoll::advice
