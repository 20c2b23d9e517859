// A run with some fields set, resolved and replayed from the beginning: the last word on a plan.
//
//     std::optional<Changed> changed = change(basis, {{"/peft/r", 8}});
//     changed->price.sizes.high;    // must be at most what the card leaves
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/hardware/gpu.h"
#include "core/memory/allocator/card.h"
#include "core/memory/step/replay.h"
#include "core/recipe/recipe.h"
#include "core/run/evidence.h"

namespace plimsoll::advice {

/// The run as it is, and what is needed to replay it changed.
struct Basis {
  const model::Architecture& network;
  const recipe::Request& given;
  const recipe::StackPreset& stack;
  const recipe::ModelTraits& traits;
  const recipe::Resolved& resolved;
  const hardware::Gpu* gpu;       ///< that was chosen, or null
  const hardware::Gpu& time_gpu;  ///< on which steps are timed
  memory::Card card;              ///< its simulator, where it has one, confirms plans
  std::vector<std::string> locks;
  double widening = 1;                                   ///< of the high end of the band
  const std::vector<run::Measured>* evidence = nullptr;  ///< for that of another release
  /// The network of a recipe with adapters, where full fine-tuning of some layers has made another of it.
  const model::Architecture* adapted_network = nullptr;

  const model::Architecture& network_of(const recipe::Recipe& recipe) const {
    return recipe.peft.on && adapted_network != nullptr ? *adapted_network : network;
  }
};

struct Price {
  memory::Sizes sizes;
  double seconds = 0;
  bool simulates = false;  ///< whether the allocator of this run can be simulated
};

/// A run with some fields set, resolved and replayed from the beginning.
struct Changed {
  recipe::Recipe recipe;
  memory::Replay replay;
  Price price;
};
/// The request with some fields set, resolved.
recipe::Resolved resolve_with(const Basis& basis, const recipe::Values& changes, json::Errors& errors);
/// Fields whose value is another than in the run as it is, with the new one; null where there is none any more.
recipe::Values moved(const Basis& basis, const recipe::Values& after);
/// Whether no locked field moves: a default may follow a change into one.
bool keeps_locks(const Basis& basis, const recipe::Values& after);

/// Nothing when the changes contradict each other, move a locked field or are refused by a library.
std::optional<Changed> change(const Basis& basis, const recipe::Values& changes);

/// Nothing either when it does not fit. Of its sizes `needed` is what it takes, not what it could do with.
std::optional<Changed> change_that_fits(const Basis& basis, const recipe::Values& changes, double usable);

/// The same of a recipe that is resolved already, without its sizes; `errors` has those of resolving it.
std::optional<Changed> replay_changed(const Basis& basis, const memory::Machine& machine,
                                      recipe::Recipe recipe, json::Errors& errors);

/// Of an instant of a run changed from the basis, and of the highest one.
memory::Sizes sizes_of(const memory::Instant& instant, const recipe::Recipe& recipe, const Basis& basis);
memory::Sizes sizes_at_peak(const memory::Replay& replay, const recipe::Recipe& recipe, const Basis& basis);
/// As the report has them: by the simulated allocator, where the basis has one.
/// On a card on which so much is usable.
memory::Sizes simulated_sizes(const memory::Replay& replay, const recipe::Recipe& recipe, const Basis& basis,
                              double usable);

}  // namespace plimsoll::advice
