// Plans that the simulated allocator confirms.
#include <algorithm>

#include "core/advice/planner.h"

namespace plimsoll::advice {

namespace {

constexpr std::optional<PricedPlan> Plans::*readings[] = {&Plans::usual, &Plans::same, &Plans::fewest,
                                                          &Plans::fastest};

}  // namespace

bool Planner::is_confirmed(const Choice& choice, const Target& target) {
  const Price* price = pricer_.confirmed(choice, target.usable);
  return price != nullptr && value(price->sizes, target.measure) <= target.usable;
}

// How much more the usual reserve asks for than the simulated allocator: about
// the same for all choices.
double Planner::slack_of(const Choice& choice, const Target& target) {
  constexpr double least = 0.5, most = 1.5;
  const memory::Sizes simulated =
      changes_in(choice) == 0 ? pricer_.with_room() : pricer_.confirmed(choice, target.usable)->sizes;
  return std::clamp(value(pricer_.price(choice)->sizes, target.measure) / value(simulated, target.measure),
                    least, most);
}

// What the usual reserve called for may be more than it takes.
PricedPlan Planner::without_needless(PricedPlan plan, const Target& target) {
  constexpr double about = 1.15;  // as far as slacks of a run differ
  const Target near{target.usable, target.measure, about * target.slack};
  for (std::size_t i = 0; i < space_.slots.size();) {
    Choice less = plan.choice;
    less[i] = 0;
    const bool needless =
        less != plan.choice && changes_in(less) > 0 && fits(less, near) && is_confirmed(less, target);
    if (needless) plan = this->plan(less, target.usable);
    i = needless ? 0 : i + 1;
  }
  return plan;
}

// A search with the slack of the run as it is; of what is not confirmed another, with less.
Plans Planner::confirmed(const Target& wanted) {
  constexpr int searches = 5;
  Target target = wanted;
  target.slack = slack_of(Choice{}, wanted);
  Plans found;
  for (int tried = 0; tried < searches; ++tried) {
    Plans plans = found;
    search(target, plans);
    double lowest = target.slack;
    bool all = true;
    for (const auto reading : readings) {
      const std::optional<PricedPlan>& plan = plans.*reading;
      if (!plan || found.*reading) continue;
      if (is_confirmed(plan->choice, wanted)) {
        found.*reading = without_needless(*plan, target);
      } else {
        all = false;
        lowest = std::min(lowest, slack_of(plan->choice, wanted));
      }
    }
    if (all) break;
    // That one dies on the card says little of the next: no large step for its sake.
    target.slack *= std::clamp(lowest / target.slack, 0.96, 0.99);
  }
  return found;
}

Plans Planner::plans(const Target& target) {
  Plans plans;
  const bool simulates = pricer_.simulates();
  if (simulates) {
    plans = confirmed(target);
  } else {
    search(target, plans);
  }
  // Before less is learned, the plan that is likely to fit.
  if (plans.usual && heaviest_in(space_, plans.usual->choice) > quality::parity) {
    Target tight{target.usable, Measure::needed};
    if (simulates) tight.slack = slack_of(Choice{}, tight);
    const std::optional<PricedPlan> plan = usual(tight, true);
    if (plan && (!simulates || is_confirmed(plan->choice, tight))) plans.usual = plan;
  }
  return plans;
}

}  // namespace plimsoll::advice
