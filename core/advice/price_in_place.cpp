// What another optimizer or another evaluation makes of a replay, put in its place without a second replay.
#include "core/advice/price.h"
#include "core/memory/parameters/optimizer_states.h"
#include "core/memory/sharding/sharding.h"
#include "core/memory/step/component_peaks.h"

namespace plimsoll::advice {

using memory::Component;

// What an optimizer takes on one rank, put in place of what the replayed one took. The walk's recipe has it.
Pricer::Stepping Pricer::stepping(Walk& at, const Choice& choice) {
  if (optimizer_ >= space_.slots.size() || choice[optimizer_] == 0) return {};
  if (at.optimizers.empty()) at.optimizers.resize(space_.slots[optimizer_].options.size());
  Stepping& found = at.optimizers[choice[optimizer_]];
  if (found.known) return found;
  found.known = true;
  const memory::Parameters& p = at.replay.parameters;
  const model::Architecture& network = basis_.network_of(at.recipe);
  const memory::Sharding now = memory::shard(network, at.recipe, p);
  // On the CPU: nothing of it is on this GPU, whatever it is.
  if (at.recipe.training.optimizer_offload != "none" && !now.on()) return found;
  // As memory::replay has it: where nothing is sharded, parameters may step one after another in the
  // backward.
  const auto step_of = [&](const recipe::Recipe& recipe, double step) {
    return now.on() ? step : memory::step_in_backward(recipe, step, p.largest_trained);
  };
  const double after = step_of(at.recipe, now.step);
  if (at.step_as_replayed < 0) {
    const recipe::Recipe& before = with_cheap(at, Choice{});
    at.step_as_replayed = step_of(before, memory::shard(network, before, p).step);
    with_cheap(at, choice);
  }
  found.temporary = after - at.step_as_replayed;
  found.states = now.optimizer - at.replay.optimizer_bytes;
  return found;
}

// What is alive while the run is evaluated as chosen; null: as it was replayed.
const memory::Snapshot* Pricer::evaluated(Walk& at, const Choice& choice) {
  uint64_t key = 0;
  for (std::size_t slot : cheap_) {
    if (is_evaluation(slot)) key += radix_[slot] * choice[slot];
  }
  if (key == 0) return nullptr;
  for (const Evaluated& known : at.evaluated) {
    if (known.key == key) return &known.live;
  }
  const recipe::Training& t = at.recipe.training;
  if (!at.others) {
    at.others = std::make_unique<memory::OtherEvaluations>(basis_.network_of(at.recipe), at.recipe,
                                                           machine_for(at.recipe), at.replay);
  }
  at.evaluated.push_back({key, at.others->live(t.per_device_eval_batch_size, t.eval_accumulation_steps,
                                               t.prediction_loss_only)});
  return &at.evaluated.back().live;
}

// The walk's instants with another optimizer's states and step, and another evaluation or none.
memory::Sizes Pricer::sizes_with(const Walk& at, const Stepping& optimizer, Eval how,
                                 const memory::Snapshot* evaluation) const {
  memory::Instant highest;
  double most = -1;
  memory::ComponentPeaks peaks;
  const memory::Instant* at_most = nullptr;
  memory::Snapshot live, peak;
  for (const memory::Instant& instant : at.replay.instants) {
    const bool evaluates = how != Eval::as_replayed && instant.id == "eval";
    if (evaluates && how == Eval::none) continue;
    live = evaluates ? *evaluation : instant.live;
    const bool stepping = instant.id.rfind("optimizer_step", 0) == 0;
    if (instant.has_states) live[Component::optimizer] += optimizer.states;
    if (stepping) live[Component::transient] += optimizer.temporary;
    if (memory::repeats(instant)) peaks.add(live);
    const double total = live.total();
    if (total <= most) continue;
    most = total;
    at_most = &instant;
    peak = live;
  }
  highest.id = at_most->id;
  highest.live = peak;
  highest.outside = at_most->outside;
  highest.gathered_before = memory::gathered_before(peak, peaks.most[Component::gathered], at.replay);
  highest.apart = memory::repeats(*at_most) ? peaks.apart() : 0;
  return sizes_of(highest, at.recipe, basis_);
}

const memory::Sizes* Pricer::without_evaluation(const Choice& choice) {
  if (evaluations_ == 0 || basis_.resolved.recipe.parallel.num_gpus > 1) return nullptr;
  Walk& at = replayed(choice);
  if (!at.valid) return nullptr;
  Choice training = choice;
  for (std::size_t slot : cheap_) {
    if (is_evaluation(slot)) training[slot] = 0;
  }
  const std::size_t key = cheap_key(training);
  for (const Training& known : at.trainings) {
    if (known.key == key) return &known.sizes;
  }
  with_cheap(at, training);
  const Stepping optimizer = stepping(at, training);
  at.trainings.push_back({key, sizes_with(at, optimizer, Eval::none, nullptr)});
  return &at.trainings.back().sizes;
}

}  // namespace plimsoll::advice
