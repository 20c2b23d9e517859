#include "core/advice/replayed_once.h"

#include "core/memory/step/component_peaks.h"
#include "core/memory/step/gather_stream.h"

namespace plimsoll::advice {

using memory::Component;

ReplayedOnce::ReplayedOnce(const Basis& basis, const memory::Machine& machine, const recipe::Recipe& recipe)
    : basis_(basis),
      machine_(machine),
      network_(basis.network_of(recipe)),
      replay_(memory::replay(network_, recipe, machine_)) {}

const ReplayedOnce::Stepping& ReplayedOnce::stepping(const recipe::Recipe& recipe, std::size_t optimizer) {
  const auto [known, fresh] = optimizers_.try_emplace(optimizer);
  Stepping& found = known->second;
  if (!fresh || optimizer == 0) return found;
  const memory::Sharding rank = memory::rank_of(network_, recipe, replay_.parameters);
  found.temporary = rank.step - replay_.sharding.step;
  found.states = rank.optimizer - replay_.sharding.optimizer;
  return found;
}

const memory::Snapshot& ReplayedOnce::evaluated(const recipe::Recipe& recipe, const Choice& evaluation) {
  const auto [known, fresh] = evaluated_.try_emplace(evaluation);
  if (!fresh) return known->second;
  if (!evaluations_)
    evaluations_ = std::make_unique<memory::OtherEvaluations>(network_, recipe, machine_, replay_);
  const recipe::Training& t = recipe.training;
  known->second =
      evaluations_->live(t.per_device_eval_batch_size, t.eval_accumulation_steps, t.prediction_loss_only);
  return known->second;
}

// The instants with another optimizer's states and step, and another evaluation or none.
memory::Sizes ReplayedOnce::sizes_with(const recipe::Recipe& recipe, const Stepping& optimizer,
                                       const Evaluation& evaluation) const {
  memory::Instant highest;
  double most = -1;
  memory::ComponentPeaks peaks;
  const memory::Instant* at_most = nullptr;
  memory::Snapshot live;
  memory::GatherStream stream(replay_.sharding);
  for (const memory::Instant& instant : replay_.instants) {
    const bool evaluates = evaluation && instant.phase == memory::Phase::eval;
    if (evaluates && *evaluation == nullptr) continue;
    live = evaluates ? **evaluation : instant.live;
    const bool stepping = memory::is_optimizer_step(instant.phase);
    if (instant.has_states) live[Component::optimizer] += optimizer.states;
    if (stepping) live[Component::transient] += optimizer.temporary;
    if (memory::repeats(instant)) peaks.add(live);
    stream.add(instant, live);
    const double total = live.total();
    if (total <= most) continue;
    most = total;
    at_most = &instant;
    highest.live = live;
  }
  highest.phase = at_most->phase;
  highest.outside = at_most->outside;
  highest.gathered_before = stream.kept_at_peak(highest, highest.live);
  highest.apart = memory::repeats(*at_most) ? peaks.apart() : 0;
  return sizes_of(highest, recipe, basis_);
}

memory::Sizes ReplayedOnce::sizes(const recipe::Recipe& recipe, const Substitutes& chosen) {
  const bool evaluates = chosen.evaluation != Choice{};
  if (chosen.optimizer == 0 && !evaluates) return sizes_at_peak(replay_, recipe, basis_);
  const Evaluation evaluation = evaluates ? Evaluation(&evaluated(recipe, chosen.evaluation)) : std::nullopt;
  return sizes_with(recipe, stepping(recipe, chosen.optimizer), evaluation);
}

memory::Sizes ReplayedOnce::sizes_of_training(const recipe::Recipe& recipe, std::size_t optimizer) {
  return sizes_with(recipe, stepping(recipe, optimizer), nullptr);
}

}  // namespace plimsoll::advice
