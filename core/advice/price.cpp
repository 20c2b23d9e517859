#include "core/advice/price.h"

#include <algorithm>

#include "core/memory/allocator/reserve.h"
#include "core/memory/parameters/targets.h"
#include "core/recipe/fields.h"
#include "core/recipe/locks.h"

namespace plimsoll::advice {

using memory::Component;

Pricer::Pricer(const Basis& basis, const Space& space)
    : basis_(basis),
      layers_(basis.network),
      adapted_layers_(basis.adapted_network == nullptr ? memory::ReplayMemo()
                                                       : memory::ReplayMemo(*basis.adapted_network)),
      machine_(basis.machine),
      adapted_machine_(basis.machine),
      space_(space),
      refused_(basis.network, basis.gpu, basis.resolved.recipe),
      variations_(basis.given, basis.stack, basis.traits, basis.resolved) {
  machine_.memo = &layers_;
  adapted_machine_.memo = &adapted_layers_;
  uint64_t radix = 1;
  for (const Slot& slot : space.slots) {
    radix_.push_back(radix);
    radix *= slot.options.size();
  }
  optimizer_ = space.find("optimizer");
  if (optimizer_ < space.slots.size() && !steps_apart(space.slots[optimizer_]))
    optimizer_ = space.slots.size();
  allocator_ = space.find("allocator");
  const bool apart = memory::evaluates_apart(basis.resolved.recipe);
  for (std::size_t i = 0; i < space.slots.size(); ++i) {
    const std::string_view name = space.slots[i].name;
    evaluation_.push_back(apart &&
                          (name == "eval_batch" || name == "eval_accumulation" || name == "eval_outputs"));
    if (!is_cheap(i)) continue;
    evaluations_ += is_evaluation(i);
    cheap_.push_back(i);
    cheap_choices_ *= space.slots[i].options.size();
  }
  effects_.resize(space.slots.size());
  for (std::size_t i = 0; i < space.slots.size(); ++i) {
    if (space.slots[i].kind != FixKind::scale && !is_cheap(i)) continue;
    for (const Option& option : space.slots[i].options) {
      std::vector<Effect> effects;
      if (option.fix != nullptr && is_cheap(i)) {
        for (const auto& [pointer, value] : option.level.changes) effects.push_back(effect(pointer, value));
      } else if (option.fix != nullptr) {
        json::Errors errors;
        for (const auto& [pointer, value] : variations_.with(option.level.changes, errors).moved) {
          effects.push_back(effect(pointer, value));
        }
      }
      effects_[i].push_back(std::move(effects));
    }
  }
  for (std::size_t i = 0; i < space.slots.size(); ++i) {
    const bool set_in_place = space.slots[i].kind == FixKind::scale && !is_cheap(i);
    weightless_.push_back(set_in_place &&
                          std::all_of(effects_[i].begin(), effects_[i].end(), [](const auto& option) {
                            return std::all_of(option.begin(), option.end(), [](const Effect& effect) {
                              return effect.field != nullptr && memory::weighs_nothing(effect.field->pointer);
                            });
                          }));
  }
}

// Whether the optimizer's options change the step alone. A stack's defaults may follow the optimizer, and of
// layers that are spread over the cards each card steps through its own part.
bool Pricer::steps_apart(const Slot& optimizers) {
  const recipe::Parallel& parallel = basis_.resolved.recipe.parallel;
  if (parallel.num_gpus > 1 && parallel.strategy == "none") return false;
  json::Errors ignored;
  return std::all_of(optimizers.options.begin(), optimizers.options.end(), [&](const Option& option) {
    const recipe::Values& changes = option.level.changes;
    const auto moved = variations_.with(changes, ignored).moved;
    return std::all_of(moved.begin(), moved.end(),
                       [&](const auto& field) { return changes.count(field.first) != 0; });
  });
}

Pricer::Effect Pricer::effect(const std::string& pointer, const json::Json& value) const {
  const recipe::Field* field = recipe::find_field(pointer);
  const bool sets = field != nullptr && field->set != nullptr;
  return {sets ? field : nullptr, value, recipe::is_locked(pointer, basis_.locks)};
}

// A default may follow a change into a field that is locked.
bool Pricer::keeps_locks(const recipe::Variation& after) const {
  return std::none_of(after.moved.begin(), after.moved.end(),
                      [this](const auto& field) { return recipe::is_locked(field.first, basis_.locks); });
}

std::optional<Changed> Pricer::changed(const Choice& choice) {
  json::Errors errors;
  recipe::Variation after = variations_.with(changes_of(space_, choice), errors);
  if (!keeps_locks(after)) return std::nullopt;
  const memory::Machine& machine = machine_for(after.recipe);
  return replay_changed(basis_, machine, std::move(after.recipe), errors);
}

const memory::Machine& Pricer::machine_for(const recipe::Recipe& recipe) const {
  return &basis_.network_of(recipe) == &basis_.network ? machine_ : adapted_machine_;
}

json::Json Pricer::value_beside(const recipe::Values& changes, const std::string& pointer) {
  json::Errors ignored;
  for (const auto& [moved, value] : variations_.with(changes, ignored).moved) {
    if (moved == pointer) return value;
  }
  const auto found = basis_.resolved.values.find(pointer);
  return found == basis_.resolved.values.end() ? json::Json() : found->second;
}

uint64_t Pricer::key(const Choice& choice) const {
  uint64_t key = 0;
  for (std::size_t i = 0; i < radix_.size(); ++i) key += radix_[i] * choice[i];
  return key;
}

std::size_t Pricer::cheap_key(const Choice& choice) const {
  std::size_t key = 0;
  for (std::size_t slot : cheap_) key = key * space_.slots[slot].options.size() + choice[slot];
  return key;
}

// The recipe with every choice but scales and cheap slots, resolved from the beginning.
const recipe::Recipe* Pricer::resolved(const Choice& choice) {
  std::unique_ptr<Walk>& base = bases_[key(choice)];
  if (!base) {
    base = std::make_unique<Walk>();
    if (changes_in(choice) == 0) {
      base->recipe = basis_.resolved.recipe;
      base->valid = true;
      return &base->recipe;
    }
    json::Errors errors;
    recipe::Variation after = variations_.with(changes_of(space_, choice), errors);
    memory::expand_targets(basis_.network_of(after.recipe), basis_.resolved.recipe, after.recipe, errors);
    base->valid = errors.empty() && keeps_locks(after);
    for (std::size_t i = 0; i < space_.slots.size(); ++i) {
      const Fix* fix = space_.slots[i].options[choice[i]].fix;
      if (fix == nullptr) continue;
      if (fix->needs == Needs::adapters) base->valid = base->valid && after.recipe.peft.on;
      if (fix->needs == Needs::quantised) base->valid = base->valid && after.recipe.quantized();
      if (fix->needs == Needs::full) base->valid = base->valid && after.recipe.full();
    }
    base->recipe = std::move(after.recipe);
  }
  return base->valid ? &base->recipe : nullptr;
}

Pricer::Walk& Pricer::walk(const Choice& choice) {
  uint64_t cheap = 0;
  for (std::size_t slot : cheap_) cheap += radix_[slot] * choice[slot];
  std::unique_ptr<Walk>& found = walks_[key(choice) - cheap];
  if (found) return *found;
  Choice base = choice;
  for (std::size_t i = 0; i < space_.slots.size(); ++i) {
    if (space_.slots[i].kind == FixKind::scale || is_cheap(i)) base[i] = 0;
  }
  const recipe::Recipe* recipe = resolved(base);
  if (recipe == nullptr) {
    found = std::make_unique<Walk>();
    return *found;
  }
  found = std::make_unique<Walk>(*recipe);
  for (std::size_t i = 0; i < space_.slots.size(); ++i) {
    if (choice[i] == 0 || space_.slots[i].kind != FixKind::scale || is_cheap(i)) continue;
    const Fix* fix = space_.slots[i].options[choice[i]].fix;
    if (fix->needs == Needs::adapters && !recipe->peft.on) found->valid = false;
    for (const Effect& effect : effects_[i][choice[i]]) {
      if (effect.field != nullptr) effect.field->set(found->recipe, effect.value);
      if (effect.locked) found->valid = false;
    }
  }
  if (recipe::contradicts_itself(found->recipe) || refused_.adds(found->recipe)) found->valid = false;
  found->optim = found->recipe.training.optim;
  found->cuda_alloc_conf = found->recipe.hardware.cuda_alloc_conf;
  found->eval_batch = found->recipe.training.per_device_eval_batch_size;
  found->eval_accumulation = found->recipe.training.eval_accumulation_steps;
  found->loss_only = found->recipe.training.prediction_loss_only;
  return *found;
}

// The recipe is that of the choice, with the cheap slots as they are.
const memory::Parameters& Pricer::known_parameters(const recipe::Recipe& recipe, const Choice& choice) {
  Choice heavy = choice;
  for (std::size_t i = 0; i < space_.slots.size(); ++i) {
    if (weightless_[i] || is_cheap(i)) heavy[i] = 0;
  }
  const auto [found, fresh] = known_parameters_.try_emplace(key(heavy));
  if (fresh) found->second = memory::count_parameters(basis_.network_of(recipe), recipe);
  return found->second;
}

Pricer::Walk& Pricer::replayed(const Choice& choice) {
  Walk& at = walk(choice);
  if (!at.valid || at.replayed) return at;
  const recipe::Recipe& recipe = with_cheap(at, Choice{});
  memory::Machine machine = machine_for(recipe);
  machine.known_parameters = &known_parameters(recipe, choice);
  at.replay = memory::replay(basis_.network_of(recipe), recipe, machine);
  at.replayed = true;
  ++replays;
  if (at.recipe.peft.on && at.replay.parameters.matched.empty()) at.valid = false;
  return at;
}

// The walk's recipe with the cheap slots as chosen. They set five fields, which are set in place: a recipe is
// large, and a choice is asked for thousands of times.
const recipe::Recipe& Pricer::with_cheap(Walk& at, const Choice& choice) const {
  at.recipe.training.optim = at.optim;
  at.recipe.hardware.cuda_alloc_conf = at.cuda_alloc_conf;
  at.recipe.training.per_device_eval_batch_size = at.eval_batch;
  at.recipe.training.eval_accumulation_steps = at.eval_accumulation;
  at.recipe.training.prediction_loss_only = at.loss_only;
  for (std::size_t slot : cheap_) {
    if (choice[slot] == 0) continue;
    for (const Effect& effect : effects_[slot][choice[slot]]) {
      if (effect.field != nullptr) effect.field->set(at.recipe, effect.value);
    }
  }
  return at.recipe;
}

bool Pricer::supplied(const Choice& choice) const {
  bool adapters = basis_.resolved.recipe.peft.on, quantised = basis_.resolved.recipe.quantized();
  for (const auto& [pointer, value] : changes_of(space_, choice)) {
    adapters = adapters || pointer == "/peft";
    quantised = quantised || (pointer.rfind("/quantization/load_in_", 0) == 0 && value == json::Json(true));
  }
  for (std::size_t i = 0; i < space_.slots.size(); ++i) {
    const Fix* fix = space_.slots[i].options[choice[i]].fix;
    if (fix == nullptr) continue;
    if (fix->needs == Needs::adapters && !adapters) return false;
    if (fix->needs == Needs::quantised && !quantised) return false;
    if (fix->needs == Needs::full && adapters) return false;
  }
  return true;
}

bool Pricer::valid(const Choice& choice) { return walk(choice).valid; }

const Price* Pricer::price(const Choice& choice) {
  Walk& at = replayed(choice);
  if (!at.valid) return nullptr;
  if (at.prices.empty()) at.prices.resize(cheap_choices_);
  uint32_t& place = at.prices[cheap_key(choice)];
  if (place == refused_price) return nullptr;
  if (place != 0) return &prices_[place - 1].price;
  if (refused_.adds(with_cheap(at, choice))) {
    place = refused_price;
    return nullptr;
  }
  prices_.push_back({choice, {}});
  place = static_cast<uint32_t>(prices_.size());
  Price* found = &prices_.back().price;
  ++priced;
  const recipe::Recipe& recipe = with_cheap(at, choice);
  const memory::Snapshot* evaluation = evaluated(at, choice);
  const Stepping other = stepping(at, choice);
  if (!other.known && evaluation == nullptr) {
    found->sizes = sizes_at_peak(at.replay, recipe, basis_);
    return found;
  }
  const Eval how = evaluation == nullptr ? Eval::as_replayed : Eval::as_chosen;
  found->sizes = sizes_with(at, other, how, evaluation);
  return found;
}

const Price* Pricer::confirmed(const Choice& choice) {
  const Price* usual = price(choice);
  if (usual == nullptr || !basis_.simulated) return usual;
  const auto known = confirmed_.find(key(choice));
  if (known != confirmed_.end()) return &known->second;
  const recipe::Recipe& recipe = with_cheap(walk(choice), choice);
  Price price;
  price.sizes =
      simulated_sizes(memory::replay(basis_.network_of(recipe), recipe, basis_.machine), recipe, basis_);
  return &confirmed_.emplace(key(choice), price).first->second;
}

std::vector<std::pair<Choice, Price>> Pricer::all() const {
  std::vector<std::pair<Choice, Price>> list;
  for (const Priced& one : prices_) list.emplace_back(one.choice, one.price);
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return list;
}

// The allocator's settings change no time.
double Pricer::seconds(const Choice& choice) {
  Walk& at = walk(choice);
  if (!at.valid) return 0;
  const std::size_t option = optimizer_ < space_.slots.size() ? choice[optimizer_] : 0;
  if (at.seconds.empty()) {
    at.seconds.assign(optimizer_ < space_.slots.size() ? space_.slots[optimizer_].options.size() : 1, -1);
    const recipe::Recipe& recipe = with_cheap(at, Choice{});
    at.work = time::work_of(basis_.network_of(recipe), recipe, &known_parameters(recipe, choice));
  }
  if (at.seconds[option] >= 0) return at.seconds[option];
  const recipe::Recipe& recipe = with_cheap(at, choice);
  time::Work work = at.work;
  if (option != 0 && work.host_elements == 0) time::set_optimizer(work, recipe.training.optim);
  at.seconds[option] = time::step_time(work, recipe, basis_.time_gpu).seconds;
  return at.seconds[option];
}

}  // namespace plimsoll::advice
