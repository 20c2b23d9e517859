#include "core/advice/advisor.h"

#include <algorithm>

#include "core/advice/basis.h"
#include "core/advice/elsewhere.h"
#include "core/run/adds_up.h"
#include "core/run/card_sizes.h"
#include "core/run/paged.h"

namespace plimsoll::advice {

namespace {

constexpr double patience = 3;  // of the fastest plan's time

// What is switched on comes first, then the batch before its accumulation and the rank before alpha.
std::vector<std::pair<std::string, json::Json>> in_reading_order(const recipe::Values& changes) {
  std::vector<std::pair<std::string, json::Json>> rows(changes.rbegin(), changes.rend());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return (a.second == json::Json(true)) > (b.second == json::Json(true));
  });
  return rows;
}

// Nobody waits several times as long for what another plan does as well, and what published comparisons can
// tell apart comes after what they cannot. One change that costs nothing comes before several: a base that TRL
// loads in fp32 needs no smaller batch. `now`: seconds of a step as it is.
void put_best_first(std::vector<NamedPlan>& plans, const Space& space, double now) {
  const auto sooner = [](const NamedPlan& a, const NamedPlan& b) { return a.seconds < b.seconds; };
  const auto first = std::min_element(plans.begin(), plans.end(), sooner);
  const double longest = first == plans.end() ? 0 : patience * first->seconds;
  std::stable_partition(plans.begin(), plans.end(),
                        [&](const NamedPlan& plan) { return plan.seconds <= longest; });
  std::stable_partition(plans.begin(), plans.end(), [&](const NamedPlan& plan) {
    return heaviest_in(space, plan.choice) <= quality::parity;
  });
  if (plans.empty() || changes_in(plans.front().choice) == 1) return;
  const auto free = std::find_if(plans.begin(), plans.end(), [&](const NamedPlan& plan) {
    return changes_in(plan.choice) == 1 && plan.quality == quality::none && plan.seconds <= same_speed * now;
  });
  if (free != plans.end()) std::rotate(plans.begin(), free, free + 1);
}

}  // namespace

Advisor::Advisor(const run::Run& run, const run::Catalog& catalog)
    : run_(run), catalog_(catalog), traits_(run::model_traits(run)) {
  basis_ = std::make_unique<Basis>(basis_of(run, traits_, catalog));
  planner_ = std::make_unique<Planner>(*basis_, open_choices(situation_of(run), run.resolved.recipe.locks));
  seconds_ = planner_->pricer().seconds(Choice{});
}

double Advisor::seconds(double usable) const {
  return run::step_on({run_.network, run_.resolved.recipe, run_.replay, known_parameters(run_)},
                      sizes_at_peak(run_), usable, basis_->time_gpu)
      .seconds;
}

const Changed* Advisor::checked(const Choice& choice) {
  const auto [found, fresh] = checked_.try_emplace(choice);
  if (fresh) found->second = planner_->pricer().changed(choice);
  return found->second ? &*found->second : nullptr;
}

// A full replay of the changed request has the last word.
std::optional<NamedPlan> Advisor::named(const char* name, const PricedPlan& plan, double usable) {
  const Changed* full = checked(plan.choice);
  if (full == nullptr) return std::nullopt;
  const memory::Sizes& sizes = planner_->pricer().sizes_on(usable, plan.choice, *full);
  if (memory::verdict(sizes, usable) == memory::Verdict::no) return std::nullopt;
  const double seconds = run::step_on({basis_->network_of(full->recipe), full->recipe, full->replay}, sizes,
                                      usable, basis_->time_gpu)
                             .seconds;
  return NamedPlan{name, {name}, plan.choice, sizes, plan.quality, full, seconds};
}

std::vector<NamedPlan> Advisor::plans(double usable) {
  const memory::Verdict verdict = memory::verdict(sizes_at_peak(run_), usable);
  std::vector<NamedPlan> found;
  if (verdict == memory::Verdict::fits) return found;
  Plans plans = planner_->plans({usable, Measure::enough});
  if (!plans.any() && verdict == memory::Verdict::no) plans = planner_->plans({usable, Measure::needed});
  const auto add = [&](const char* name, const std::optional<PricedPlan>& plan) {
    if (!plan) return;
    for (NamedPlan& known : found) {
      if (known.choice != plan->choice) continue;
      known.readings.emplace_back(name);
      return;
    }
    if (std::optional<NamedPlan> one = named(name, *plan, usable)) found.push_back(*std::move(one));
  };
  add("usual", plans.usual);
  add("same", plans.same);
  add("fewest", plans.fewest);
  add("fastest", plans.fastest);
  put_best_first(found, planner_->space(), seconds_);
  return found;
}

// What a plan changes a field from; `value` where it changes nothing. A default may become another one beside
// the plan's other changes; where it does not, nothing need be said.
json::Json Advisor::before(const Choice& choice, const std::string& pointer, const json::Json& value) const {
  const auto given = run_.given.values.find(pointer);
  if (given != run_.given.values.end() && given->second == value) return value;
  json::Json old;
  if (const auto found = run_.resolved.values.find(pointer); found != run_.resolved.values.end())
    old = found->second;
  if (old != value) return old;
  recipe::Values others = changes_of(planner_->space(), choice);
  others.erase(pointer);
  return planner_->pricer().value_beside(others, pointer);
}

const std::vector<ChangeRow>& Advisor::changes(const Choice& choice, double usable) {
  const auto [found, fresh] = changes_.try_emplace({choice, usable});
  if (fresh) found->second = listed(choice, usable);
  return found->second;
}

std::vector<ChangeRow> Advisor::listed(const Choice& choice, double usable) {
  const Space& space = planner_->space();
  const recipe::Values together = changes_of(space, choice);
  std::vector<ChangeRow> rows;
  Choice so_far{};
  double device = planner_->pricer().price(so_far)->sizes.device;
  for (std::size_t i = 0; i < space.slots.size(); ++i) {
    if (choice[i] == 0) continue;
    const Option& option = space.slots[i].options[choice[i]];
    so_far[i] = choice[i];
    double saved = 0;
    if (const Price* after = planner_->pricer().price(so_far)) {
      saved = device - after->sizes.device;
      device = after->sizes.device;
    }
    for (const auto& [pointer, value] : in_reading_order(option.level.changes)) {
      // "/peft" alone only says that the section is there; its fields follow.
      if (recipe::find_field(pointer) == nullptr) continue;
      if (together.at(pointer) != value) continue;  // another change of the plan has the last word
      json::Json old = before(choice, pointer, value);
      if (old == value) continue;
      rows.push_back({&option, pointer, std::move(old), value, saved});
      saved = 0;
    }
  }
  // Each step is by the usual reserve; all together they save what the simulated allocator says.
  std::vector<double*> savings;
  for (ChangeRow& row : rows) savings.push_back(&row.saves);
  if (const Price* planned = planner_->pricer().confirmed(choice, usable))
    run::add_up_to(sizes_at_peak(run_).device - planned->sizes.device, savings);
  return rows;
}

// Each lock alone: what the run needs at least without it. A search for each, so for all cards at once.
const std::map<std::string, double>& Advisor::needed_without_locks() {
  const std::vector<std::string>& locks = run_.resolved.recipe.locks;
  if (!needed_without_locks_.empty()) return needed_without_locks_;
  for (const std::string& lock : locks) {
    std::vector<std::string> others;
    for (const std::string& other : locks) {
      if (other != lock) others.push_back(other);
    }
    Basis freed = *basis_;
    freed.locks = others;
    Planner planner(freed, open_choices(situation_of(run_), others));
    needed_without_locks_[lock] = planner.least(Measure::needed).price.sizes.needed;
  }
  return needed_without_locks_;
}

std::optional<Blocked> Advisor::blocked(double usable) {
  if (memory::verdict(sizes_at_peak(run_), usable) != memory::Verdict::no || !plans(usable).empty())
    return std::nullopt;
  Choice least = planner_->least(Measure::needed).choice;
  if (checked(least) == nullptr) least = Choice{};  // the run as it is, which is always an answer
  const Changed& full = *checked(least);
  Blocked found{.least = full.price.sizes.needed, .choice = least};
  for (const hardware::Tier& tier : catalog_.tiers) {
    if (found.smallest_tier == nullptr && found.least <= cards_of(run_, tier, catalog_).room)
      found.smallest_tier = &tier;
  }
  const std::map<std::string, double>& without = needed_without_locks();
  for (const std::string& lock : run_.resolved.recipe.locks) {
    const auto needed = without.find(lock);
    if (needed != without.end() && needed->second <= usable) found.locks_in_the_way.push_back(lock);
  }
  found.sibling = smaller_sibling(run_, catalog_, usable);
  const auto& bytes = full.replay.at_peak().live.bytes;
  const auto largest = std::max_element(std::begin(bytes), std::end(bytes));
  found.component = static_cast<memory::Component>(largest - std::begin(bytes));
  found.component_bytes = *largest;
  return found;
}

}  // namespace plimsoll::advice
