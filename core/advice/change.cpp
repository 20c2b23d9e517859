#include "core/advice/change.h"

#include <utility>

#include "core/advice/refused.h"
#include "core/memory/parameters/targets.h"
#include "core/recipe/fields.h"
#include "core/recipe/locks.h"
#include "core/time/step.h"

namespace plimsoll::advice {

namespace {

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

recipe::Resolved resolve_with(const Basis& basis, const recipe::Values& changes, json::Errors& errors) {
  recipe::Request request = basis.given;
  for (const auto& [pointer, value] : changes) request.values[pointer] = value;
  return recipe::resolve(request, basis.stack, basis.traits, errors);
}

recipe::Values moved(const Basis& basis, const recipe::Values& after) {
  const recipe::Values& before = basis.resolved.values;
  recipe::Values fields;
  for (const auto& [pointer, value] : after) {
    const auto found = before.find(pointer);
    if (found == before.end() || found->second != value) fields.emplace(pointer, value);
  }
  for (const auto& [pointer, value] : before) {
    if (after.count(pointer) == 0) fields.emplace(pointer, json::Json());
  }
  return fields;
}

bool keeps_locks(const Basis& basis, const recipe::Values& after) {
  return basis.locks.empty() || !recipe::moves_locked(moved(basis, after), basis.locks);
}

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
  recipe::Resolved after = resolve_with(basis, changes, errors);
  if (!keeps_locks(basis, after.values)) return std::nullopt;
  if (Refused(basis.network, basis.gpu, basis.resolved.recipe).adds(after.recipe)) return std::nullopt;
  return replay_changed(basis, basis.card.machine, std::move(after.recipe), errors);
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
