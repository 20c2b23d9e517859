// A run that was replayed, and what another optimizer or another evaluation makes of its sizes without a
// second replay.
//
//     ReplayedOnce run(basis, machine, recipe);
//     run.sizes(other, {.optimizer = 2});     // `other`: the recipe with that option's optimizer
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "core/advice/change.h"
#include "core/advice/space.h"
#include "core/memory/step/other_evaluations.h"

namespace plimsoll::advice {

/// What is chosen in the slots of the optimizer and of evaluation; 0 and nothing: as it was replayed.
struct Substitutes {
  std::size_t optimizer = 0;
  Choice evaluation{};
};

class ReplayedOnce {
 public:
  /// `basis` outlives it. `machine` is that of `recipe`, with what its network weighs.
  ReplayedOnce(const Basis& basis, const memory::Machine& machine, const recipe::Recipe& recipe);

  ReplayedOnce(const ReplayedOnce&) = delete;
  ReplayedOnce& operator=(const ReplayedOnce&) = delete;

  const memory::Replay& replay() const { return replay_; }

  /// Of `recipe`, which is the replayed one but for what is substituted and the allocator's settings.
  memory::Sizes sizes(const recipe::Recipe& recipe, const Substitutes& chosen);
  /// The same were there no evaluation.
  memory::Sizes sizes_of_training(const recipe::Recipe& recipe, std::size_t optimizer);

 private:
  /// What another optimizer takes more than the replayed one.
  struct Stepping {
    double states = 0, temporary = 0;
  };
  const Stepping& stepping(const recipe::Recipe& recipe, std::size_t optimizer);
  const memory::Snapshot& evaluated(const recipe::Recipe& recipe, const Choice& evaluation);
  /// What is alive while the run is evaluated; nothing: as it was replayed, null: there is no evaluation.
  using Evaluation = std::optional<const memory::Snapshot*>;
  memory::Sizes sizes_with(const recipe::Recipe& recipe, const Stepping& optimizer,
                           const Evaluation& evaluation) const;

  const Basis& basis_;
  memory::Machine machine_;
  const model::Architecture& network_;
  memory::Replay replay_;
  std::unique_ptr<memory::OtherEvaluations> evaluations_;  ///< once one is asked for
  std::map<std::size_t, Stepping> optimizers_;             ///< by option
  std::map<Choice, memory::Snapshot> evaluated_;           ///< what is alive then
};

}  // namespace plimsoll::advice
