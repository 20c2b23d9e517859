#include "core/advice/price.h"

#include <algorithm>
#include <limits>

#include "core/memory/parameters/targets.h"
#include "core/time/step.h"

namespace plimsoll::advice {

namespace {

bool is_met(Needs needs, bool adapters, bool quantised) {
  switch (needs) {
    case Needs::nothing:
      return true;
    case Needs::adapters:
      return adapters;
    case Needs::quantised:
      return quantised;
    case Needs::full:
      return !adapters;
  }
  return true;
}

// Whether a recipe has what each change of a choice needs.
bool has_needed(const Space& space, const Choice& choice, bool adapters, bool quantised) {
  for (std::size_t i = 0; i < space.slots.size(); ++i) {
    const Fix* fix = space.slots[i].options[choice[i]].fix;
    if (fix != nullptr && !is_met(fix->needs, adapters, quantised)) return false;
  }
  return true;
}

}  // namespace

Machines::Machines(const Basis& basis)
    : basis_(basis),
      layers_(basis.network),
      machine_(basis.card.machine),
      adapted_machine_(basis.card.machine) {
  if (basis.adapted_network != nullptr) adapted_layers_ = memory::ReplayMemo(*basis.adapted_network);
  machine_.memo = &layers_;
  adapted_machine_.memo = &adapted_layers_;
}

const memory::Machine& Machines::of(const recipe::Recipe& recipe) const {
  return &basis_.network_of(recipe) == &basis_.network ? machine_ : adapted_machine_;
}

CheapFields CheapFields::of(const recipe::Recipe& r) {
  const recipe::Training& t = r.training;
  return {t.optim, r.hardware.cuda_alloc_conf, t.per_device_eval_batch_size, t.eval_accumulation_steps,
          t.prediction_loss_only};
}

void CheapFields::put_into(recipe::Recipe& r) const {
  recipe::Training& t = r.training;
  t.optim = optim;
  r.hardware.cuda_alloc_conf = cuda_alloc_conf;
  t.per_device_eval_batch_size = eval_batch;
  t.eval_accumulation_steps = eval_accumulation;
  t.prediction_loss_only = loss_only;
}

Pricer::Pricer(const Basis& basis, const Space& space)
    : basis_(basis),
      space_(space),
      machines_(basis),
      refused_(basis.network, basis.gpu, basis.resolved.recipe),
      roles_(basis, space),
      effects_(basis, space, roles_) {}

std::optional<Changed> Pricer::changed(const Choice& choice) {
  json::Errors errors;
  recipe::Resolved after = resolve_with(basis_, changes_of(space_, choice), errors);
  if (!keeps_locks(basis_, after.values)) return std::nullopt;
  const memory::Machine& machine = machines_.of(after.recipe);
  std::optional<Changed> changed = replay_changed(basis_, machine, std::move(after.recipe), errors);
  if (changed) changed->price.sizes = sizes_on(basis_.card.usable, choice, *changed);
  return changed;
}

json::Json Pricer::value_beside(const recipe::Values& changes, const std::string& pointer) {
  json::Errors ignored;
  const recipe::Values values = resolve_with(basis_, changes, ignored).values;
  const auto found = values.find(pointer);
  return found == values.end() ? json::Json() : found->second;
}

const std::optional<recipe::Recipe>& Pricer::resolved(const Choice& structure) {
  const auto [known, fresh] = resolved_.try_emplace(structure);
  std::optional<recipe::Recipe>& found = known->second;
  if (!fresh) return found;
  if (changes_in(structure) == 0) return found = basis_.resolved.recipe;
  json::Errors errors;
  recipe::Resolved after = resolve_with(basis_, changes_of(space_, structure), errors);
  memory::expand_targets(basis_.network_of(after.recipe), basis_.resolved.recipe, after.recipe, errors);
  const bool supplied = has_needed(space_, structure, after.recipe.peft.on, after.recipe.quantized());
  if (errors.empty() && keeps_locks(basis_, after.values) && supplied) found = std::move(after.recipe);
  return found;
}

void Pricer::begin(Walk& walk, const Choice& choice) {
  const Choice scales = roles_.only(SlotRole::scale, choice);
  const std::optional<recipe::Recipe>& before = resolved(roles_.only(SlotRole::structure, choice));
  if (!before) return;
  walk.recipe = *before;
  walk.valid = has_needed(space_, scales, before->peft.on, before->quantized());
  for (std::size_t i = 0; i < space_.slots.size(); ++i) {
    if (scales[i] != 0 && !effects_.set(i, scales[i], walk.recipe)) walk.valid = false;
  }
  if (recipe::contradicts_itself(walk.recipe) || refused_.adds(walk.recipe)) walk.valid = false;
  walk.as_replayed = CheapFields::of(walk.recipe);
}

Pricer::Walk& Pricer::walk(const Choice& choice) {
  const auto [known, fresh] = walks_.try_emplace(roles_.without_cheap(choice));
  if (fresh) begin(*(known->second = std::make_unique<Walk>()), choice);
  return *known->second;
}

// The recipe is that of the choice, with the cheap slots as they are.
const memory::Parameters& Pricer::known_parameters(const recipe::Recipe& recipe, const Choice& choice) {
  Choice heavy = roles_.without_cheap(choice);
  for (std::size_t i = 0; i < space_.slots.size(); ++i) {
    if (effects_.weighs_nothing(i)) heavy[i] = 0;
  }
  const auto [found, fresh] = known_parameters_.try_emplace(heavy);
  if (fresh) found->second = memory::count_parameters(basis_.network_of(recipe), recipe);
  return found->second;
}

Pricer::Walk& Pricer::replayed(const Choice& choice) {
  Walk& at = walk(choice);
  if (!at.valid || at.run) return at;
  const recipe::Recipe& recipe = with_cheap(at, Choice{});
  memory::Machine machine = machines_.of(recipe);
  machine.known_parameters = &known_parameters(recipe, choice);
  at.run.emplace(basis_, machine, recipe);
  ++replays;
  if (recipe.peft.on && at.run->replay().parameters.matched.empty()) at.valid = false;
  return at;
}

// The walk's recipe with the cheap slots as chosen.
const recipe::Recipe& Pricer::with_cheap(Walk& at, const Choice& choice) const {
  at.as_replayed.put_into(at.recipe);
  for (const std::size_t slot : roles_.cheap()) effects_.set(slot, choice[slot], at.recipe);
  return at.recipe;
}

bool Pricer::supplied(const Choice& choice) const {
  bool adapters = basis_.resolved.recipe.peft.on, quantised = basis_.resolved.recipe.quantized();
  for (const auto& [pointer, value] : changes_of(space_, choice)) {
    adapters = adapters || pointer == "/peft";
    quantised = quantised || (pointer.rfind("/quantization/load_in_", 0) == 0 && value == json::Json(true));
  }
  return has_needed(space_, choice, adapters, quantised);
}

bool Pricer::valid(const Choice& choice) { return walk(choice).valid; }

const Price* Pricer::price(const Choice& choice) {
  Walk& at = replayed(choice);
  if (!at.valid) return nullptr;
  if (at.prices.empty()) at.prices.resize(roles_.cheap_places());
  uint32_t& place = at.prices[roles_.cheap_place(choice)];
  if (place == refused_price) return nullptr;
  if (place != 0) return &prices_[place - 1].second;
  const recipe::Recipe& recipe = with_cheap(at, choice);
  if (refused_.adds(recipe)) {
    place = refused_price;
    return nullptr;
  }
  ++priced;
  const memory::Sizes sizes =
      at.run->sizes(recipe, {roles_.optimizer_in(choice), roles_.only(SlotRole::evaluation, choice)});
  prices_.emplace_back(choice, Price{sizes, 0, memory::simulates(recipe)});
  place = static_cast<uint32_t>(prices_.size());
  return &prices_.back().second;
}

const Price* Pricer::confirmed(const Choice& choice, double usable) {
  const Price* usual = price(choice);
  if (usual == nullptr || !simulates()) return usual;
  const auto [known, fresh] = confirmed_[choice].try_emplace(usable);
  if (fresh) {
    const recipe::Recipe& recipe = with_cheap(walk(choice), choice);
    const memory::Replay replay = memory::replay(basis_.network_of(recipe), recipe, basis_.card.machine);
    known->second.sizes = simulated_sizes(replay, recipe, basis_, usable);
  }
  return &known->second;
}

const memory::Sizes& Pricer::sizes_on(double usable, const Choice& choice, const Changed& changed) {
  const auto [known, fresh] = confirmed_[choice].try_emplace(usable);
  if (fresh) known->second.sizes = simulated_sizes(changed.replay, changed.recipe, basis_, usable);
  return known->second.sizes;
}

const memory::Sizes& Pricer::with_room() {
  if (with_room_) return *with_room_;
  const recipe::Recipe& recipe = with_cheap(replayed(Choice{}), Choice{});
  constexpr double any = std::numeric_limits<double>::infinity();
  with_room_ = simulated_sizes(walk(Choice{}).run->replay(), recipe, basis_, any);
  return *with_room_;
}

const memory::Sizes* Pricer::without_evaluation(const Choice& choice) {
  if (!roles_.any_evaluation() || basis_.resolved.recipe.parallel.num_gpus > 1) return nullptr;
  Walk& at = replayed(choice);
  if (!at.valid) return nullptr;
  const Choice training = roles_.without_evaluation(choice);
  const auto [known, fresh] = at.trainings.try_emplace(roles_.cheap_place(training));
  if (fresh)
    known->second = at.run->sizes_of_training(with_cheap(at, training), roles_.optimizer_in(training));
  return &known->second;
}

std::vector<std::pair<Choice, Price>> Pricer::all() const {
  std::vector<std::pair<Choice, Price>> list(prices_.begin(), prices_.end());
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return list;
}

double Pricer::seconds(const Choice& choice) {
  Walk& at = walk(choice);
  if (!at.valid) return 0;
  if (!at.work) {
    const recipe::Recipe& recipe = with_cheap(at, Choice{});
    at.work = time::work_of(basis_.network_of(recipe), recipe, &known_parameters(recipe, choice));
  }
  const std::size_t optimizer = roles_.optimizer_in(choice);
  if (at.seconds.size() <= optimizer) at.seconds.resize(optimizer + 1, -1);
  double& found = at.seconds[optimizer];
  if (found >= 0) return found;
  const recipe::Recipe& recipe = with_cheap(at, choice);
  time::Work work = *at.work;
  if (optimizer != 0 && work.host_elements == 0) time::set_optimizer(work, recipe.training.optim);
  found = time::step_time(work, recipe, basis_.time_gpu).seconds;
  return found;
}

}  // namespace plimsoll::advice
