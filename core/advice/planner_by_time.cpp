// The readings that ask for the fastest plan: every choice in the order of its time, until one fits.
#include <algorithm>
#include <map>
#include <tuple>

#include "core/advice/planner.h"

namespace plimsoll::advice {

bool Planner::at_parity(const Entry& entry) const {
  if (!structures_[entry.structure].parity) return false;
  return std::all_of(loose_.begin(), loose_.end(), [&](std::size_t slot) {
    return space_.slots[slot].options[entry.choice[slot]].level.quality <= quality::parity;
  });
}

// Choices whose every change costs nothing in quality (`same`), or nothing that was ever measured, fastest
// first.
const std::vector<Planner::Entry>& Planner::by_time(bool same) {
  std::vector<Entry>& entries = same ? same_ : quick_;
  bool& listed = same ? listed_same_ : listed_quick_;
  if (listed) return entries;
  listed = true;
  const int most = same ? quality::none : quality::parity;
  for (std::size_t s = 0; s < structures_.size(); ++s) {
    const Structure& structure = structures_[s];
    if (!structure.parity || (same && structure.quality > 0) || !pricer_.valid(structure.choice)) continue;
    std::vector<Entry> grown = {begin(s)};
    for (std::size_t slot : loose_) {
      if (!pricer_.is_evaluation(slot)) branch(grown, slot, most);
    }
    entries.insert(entries.end(), grown.begin(), grown.end());
  }
  for (Entry& entry : entries) entry.seconds = pricer_.seconds(entry.choice);
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    if (a.seconds != b.seconds) return a.seconds < b.seconds;
    return a.changes != b.changes ? a.changes < b.changes : a.quality < b.quality;
  });
  return entries;
}

// To each entry those that set the slot too, at a cost in quality of `most` at the most.
void Planner::branch(std::vector<Entry>& entries, std::size_t slot, int most) const {
  const std::vector<Option>& options = space_.slots[slot].options;
  const std::size_t before = entries.size();
  for (std::size_t option = 1; option < options.size(); ++option) {
    if (options[option].level.quality > most) continue;
    for (std::size_t i = 0; i < before; ++i) {
      Entry next = entries[i];
      next.choice[slot] = static_cast<uint8_t>(option);
      next.quality += options[option].level.quality;
      ++next.changes;
      entries.push_back(next);
    }
  }
}

// Ways to set the evaluation, fewest changes and least cost in quality first; they change no time.
std::vector<Planner::Entry> Planner::evaluations(int most) const {
  std::vector<Entry> ways(1);
  for (std::size_t slot : loose_) {
    if (pricer_.is_evaluation(slot)) branch(ways, slot, most);
  }
  std::stable_sort(ways.begin(), ways.end(), [](const Entry& a, const Entry& b) {
    return a.changes != b.changes ? a.changes < b.changes : a.quality < b.quality;
  });
  return ways;
}

// Both made; the second changes nothing that the first does.
Planner::Entry Planner::together(const Entry& training, const Entry& evaluation) const {
  Entry both = training;
  both.changes += evaluation.changes;
  both.quality += evaluation.quality;
  for (std::size_t slot : loose_) {
    if (evaluation.choice[slot] != 0) both.choice[slot] = evaluation.choice[slot];
  }
  return both;
}

std::optional<PricedPlan> Planner::quickest(const Target& target, int least, bool same) {
  std::optional<Entry> best;
  double slowest = beyond;
  std::tuple<int, int, bool> best_cost;
  const std::vector<Entry> evaluations = this->evaluations(same ? quality::none : quality::parity);
  for (const Entry& training : by_time(same)) {
    if (training.seconds > slowest) break;
    // A structure's floor is worth two replays only to those who try all of its choices.
    const double floor = structures_[training.structure].floor[static_cast<int>(target.measure)];
    if (training.seconds <= 0 || floor > target.usual()) continue;
    if (!training_may_fit(training.choice, target)) continue;
    for (const Entry& evaluation : evaluations) {
      const auto cost = std::make_tuple(training.changes + evaluation.changes,
                                        training.quality + evaluation.quality, only_slack(training.choice));
      if (std::get<0>(cost) == 0) continue;
      if (best && cost >= best_cost) break;  // and so do those after it
      Entry entry = training;
      if (evaluation.changes != 0) entry = together(training, evaluation);
      if (!may_fit(entry.choice, target) || !fits(entry.choice, target)) continue;
      if (fitting_part(entry.choice, least, target)) continue;
      if (!best) slowest = same_speed * entry.seconds;
      best = entry;
      best_cost = cost;
      break;
    }
    if (best && best_cost == std::make_tuple(least, 0, false)) break;
  }
  if (best) return plan(best->choice, target.usable);
  return std::nullopt;
}

// What the search for the least cost in quality has found so far, and what it need not try again.
struct Planner::Loss {
  const Target& target;
  int least;                                         ///< parts of fewer changes are known not to fit
  std::vector<std::size_t> paid;                     ///< slots that cost something at their end
  std::vector<std::size_t> open;                     ///< slots that cost nothing
  std::map<Choice, bool> may_reach[most_slots + 1];  ///< by how many of the paid slots are open too
  std::optional<Choice> best;
  double seconds = beyond;
  int changes = 0;
};

// Where nothing of at most parity fits: the least cost in quality, then the fastest. Every choice of each
// cost, until one cost has a plan.
std::optional<PricedPlan> Planner::least_loss(const Target& target, int least) {
  Loss loss{target, least, {}, {}, {}, {}, beyond, 0};
  int most = 0;
  for (const Structure& structure : structures_) most = std::max(most, structure.quality);
  for (std::size_t slot : loose_) {
    const std::vector<Option>& options = space_.slots[slot].options;
    (options.back().level.quality == 0 ? loss.open : loss.paid).push_back(slot);
    int dearest = 0;
    for (const Option& option : options) dearest = std::max(dearest, option.level.quality);
    most += dearest;
  }
  for (int cost = 0; cost <= most && !loss.best; ++cost) {
    for (std::size_t s = 0; s < structures_.size(); ++s) {
      if (structures_[s].quality > cost || !alive(s, target)) continue;
      spend(loss, begin(s).choice, loss.paid.size(), cost - structures_[s].quality);
    }
  }
  if (loss.best) return plan(*loss.best, loss.target.usable);
  return std::nullopt;
}

// All ways to spend what is left on the first `paid` of the slots that cost something, but for those that
// reach the target by no way to set what is still open.
void Planner::spend(Loss& loss, const Choice& choice, std::size_t paid, int left) {
  const auto [known, fresh] = loss.may_reach[paid].try_emplace(choice, false);
  if (fresh) {
    std::vector<std::size_t> open = loss.open;
    open.insert(open.end(), loss.paid.begin(), loss.paid.begin() + static_cast<std::ptrdiff_t>(paid));
    known->second = may_reach(choice, open, loss.target);
  }
  if (!known->second) return;
  if (paid == 0) {
    if (left == 0) fill(loss, choice);
    return;
  }
  const std::size_t slot = loss.paid[paid - 1];
  const std::vector<Option>& options = space_.slots[slot].options;
  for (std::size_t option = 0; option < options.size(); ++option) {
    const int cost = option == 0 ? 0 : options[option].level.quality;
    if (cost > left) continue;
    Choice next = choice;
    next[slot] = static_cast<uint8_t>(option);
    spend(loss, next, paid - 1, left - cost);
  }
}

// The fastest way to set the slots that cost nothing.
void Planner::fill(Loss& loss, const Choice& spent) {
  std::vector<Choice> ways = {spent};
  for (const std::size_t slot : loss.open) add_options(ways, space_, slot, 1);
  for (const Choice& choice : ways) {
    const int changes = changes_in(choice);
    if (changes == 0 || !pricer_.valid(choice)) continue;
    const double seconds = pricer_.seconds(choice);
    const bool slower = seconds > loss.seconds || (seconds == loss.seconds && changes >= loss.changes);
    if (loss.best && slower) continue;
    if (!may_fit(choice, loss.target) || !fits(choice, loss.target)) continue;
    if (fitting_part(choice, loss.least, loss.target)) continue;
    loss.best = choice;
    loss.seconds = seconds;
    loss.changes = changes;
  }
}

}  // namespace plimsoll::advice
