#include "core/advice/change.h"

#include "core/advice/refused.h"
#include "core/memory/parameters/targets.h"
#include "core/recipe/fields.h"
#include "core/recipe/locks.h"
#include "core/time/step.h"

namespace plimsoll::advice {

namespace {

recipe::Request with(const recipe::Request& given, const recipe::Values& changes) {
  recipe::Request changed = given;
  for (const auto& [pointer, value] : changes) changed.values[pointer] = value;
  return changed;
}

// A default may follow a change into a field that is locked.
bool keeps_locks(const Basis& basis, const recipe::Values& values) {
  if (basis.locks.empty()) return true;
  for (const auto& [pointer, before] : basis.resolved.values) {
    if (!recipe::is_locked(pointer, basis.locks)) continue;
    const auto now = values.find(pointer);
    if (now == values.end() || now->second != before) return false;
  }
  return true;
}

// A plan may bring another release, of which less or more was measured.
double widening_of(const recipe::Recipe& recipe, const Basis& basis) {
  const bool same = recipe.versions.transformers == basis.resolved.recipe.versions.transformers;
  return same || basis.evidence == nullptr ? basis.widening
                                           : run::widening(recipe, basis.network_of(recipe), *basis.evidence);
}

memory::ReplayedRun on_basis(const memory::Replay& replay, const recipe::Recipe& recipe, const Basis& basis) {
  return {basis.network_of(recipe), recipe, replay, widening_of(recipe, basis)};
}

}  // namespace

memory::Sizes sizes_of(const memory::Instant& instant, const recipe::Recipe& recipe, const Basis& basis) {
  memory::Sizes sizes = memory::sizes_of(instant, recipe, basis.card.context);
  memory::widen(sizes, widening_of(recipe, basis), basis.card.usable);
  return sizes;
}

memory::Sizes sizes_at_peak(const memory::Replay& replay, const recipe::Recipe& recipe, const Basis& basis) {
  return sizes_of(replay.at_peak(), recipe, basis);
}

memory::Sizes simulated_sizes(const memory::Replay& replay, const recipe::Recipe& recipe, const Basis& basis,
                              double usable) {
  memory::Card card = basis.card;
  card.usable = usable;
  return memory::simulated_sizes(card, on_basis(replay, recipe, basis));
}

std::optional<Changed> replay_changed(const Basis& basis, const memory::Machine& machine,
                                      recipe::Recipe recipe, json::Errors& errors) {
  memory::expand_targets(basis.network_of(recipe), basis.resolved.recipe, recipe, errors);
  if (!errors.empty()) return std::nullopt;
  Changed changed;
  changed.recipe = std::move(recipe);
  changed.replay = memory::replay(basis.network_of(changed.recipe), changed.recipe, machine);
  if (changed.recipe.peft.on && changed.replay.parameters.matched.empty()) return std::nullopt;
  const time::Work work = time::work_of(basis.network_of(changed.recipe), changed.recipe);
  changed.price.seconds = time::step_time(work, changed.recipe, basis.time_gpu).seconds;
  return changed;
}

namespace {

std::optional<Changed> without_sizes(const Basis& basis, const recipe::Values& changes) {
  json::Errors errors;
  recipe::Resolved resolved = recipe::resolve(with(basis.given, changes), basis.stack, basis.traits, errors);
  if (!keeps_locks(basis, resolved.values)) return std::nullopt;
  if (Refused(basis.network, basis.gpu, basis.resolved.recipe).adds(resolved.recipe)) return std::nullopt;
  return replay_changed(basis, basis.card.machine, std::move(resolved.recipe), errors);
}

}  // namespace

std::optional<Changed> change(const Basis& basis, const recipe::Values& changes) {
  std::optional<Changed> changed = without_sizes(basis, changes);
  if (changed)
    changed->price.sizes = simulated_sizes(changed->replay, changed->recipe, basis, basis.card.usable);
  return changed;
}

std::optional<Changed> change_that_fits(const Basis& basis, const recipe::Values& changes, double usable) {
  std::optional<Changed> changed = without_sizes(basis, changes);
  if (!changed) return std::nullopt;
  const std::optional<memory::Sizes> sizes =
      memory::sizes_that_fit(basis.card, on_basis(changed->replay, changed->recipe, basis), usable);
  if (!sizes) return std::nullopt;
  changed->price.sizes = *sizes;
  return changed;
}

}  // namespace plimsoll::advice
