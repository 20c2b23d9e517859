// The reading that asks for the fewest changes: every choice of one, of two and so on, until one fits.
#include <algorithm>
#include <utility>

#include "core/advice/planner.h"

namespace plimsoll::advice {

// Which of the loose slots make the changes that are left, each at an end, and what that costs.
void Planner::group(const Group& from, std::size_t slot, int left, std::vector<Group>& out) const {
  if (left == 0) {
    out.push_back(from);
    return;
  }
  for (std::size_t i = slot; i < loose_.size(); ++i) {
    if (pricer_.is_evaluation(loose_[i])) continue;
    const std::vector<Option>& options = space_.slots[loose_[i]].options;
    for (std::size_t end = 1; end < options.size(); ++end) {
      if (end_for(loose_[i], end) != end) continue;
      int least = any_cost, most = 0;
      for (std::size_t option = 1; option <= end; ++option) {
        if (end_for(loose_[i], option) != end) continue;
        least = std::min(least, options[option].level.quality);
        most = std::max(most, options[option].level.quality);
      }
      Group next = from;
      next.ends[loose_[i]] = static_cast<uint8_t>(end);
      next.least += least;
      next.most += most;
      group(next, i + 1, left - 1, out);
    }
  }
}

// All choices of exactly `count` changes to the training, by the ends of their scales: a million choices
// share a few thousand of these.
std::vector<Planner::Group>& Planner::with_changes(std::size_t count) {
  const int wanted = static_cast<int>(count);
  while (by_count_.size() <= count) by_count_.emplace_back();
  std::vector<Group>& groups = by_count_[count];
  if (!groups.empty()) return groups;
  for (std::size_t s = 0; s < structures_.size() && structures_[s].changes <= wanted; ++s) {
    const Structure& structure = structures_[s];
    group({structure.choice, s, structure.quality, structure.quality}, 0, wanted - structure.changes, groups);
  }
  return groups;
}

// A group is asked for each cost and each evaluation.
bool Planner::training_may_fit(Group& group, const Target& target) {
  double& floor = group.floor[static_cast<int>(target.measure)];
  if (floor < 0) floor = training_floor(group.ends, target.measure);
  return floor <= target.usual();
}

// Its choices that cost just so much.
void Planner::expand(const Entry& from, std::size_t slot, int cost, std::vector<Entry>& out) const {
  while (slot < loose_.size() && from.choice[loose_[slot]] == 0) ++slot;
  if (slot == loose_.size()) {
    if (from.quality == cost) out.push_back(from);
    return;
  }
  const std::size_t end = from.choice[loose_[slot]];
  for (std::size_t option = 1; option <= end; ++option) {
    const int quality = from.quality + space_.slots[loose_[slot]].options[option].level.quality;
    if (quality > cost || end_for(loose_[slot], option) != end) continue;
    Entry next = from;
    next.choice[loose_[slot]] = static_cast<uint8_t>(option);
    next.quality = quality;
    expand(next, slot + 1, cost, out);
  }
}

// What fits of the choices that make so many changes at this cost in quality: that of the training and that of
// the evaluation.
std::vector<Planner::Entry> Planner::fitting(std::size_t count, int cost, const Wanted& wanted) {
  std::vector<Entry> found, trainings;
  const std::vector<Entry>& evaluations = wanted.evaluations;
  for (std::size_t first = 0, next = 0; first < evaluations.size(); first = next) {
    // Those of as many changes and the same cost go with the same trainings.
    const Entry& evaluation = evaluations[first];
    for (next = first; next < evaluations.size(); ++next) {
      if (evaluations[next].changes != evaluation.changes || evaluations[next].quality != evaluation.quality)
        break;
    }
    if (static_cast<std::size_t>(evaluation.changes) > count) break;
    const int left = cost - evaluation.quality;
    for (Group& group : with_changes(count - evaluation.changes)) {
      if (group.least > left || group.most < left || !alive(group.structure, wanted.target)) continue;
      if (wanted.parity && !structures_[group.structure].parity) continue;
      if (!training_may_fit(group, wanted.target)) continue;
      Entry ends = begin(group.structure);
      ends.choice = group.ends;
      ends.changes = static_cast<int>(count) - evaluation.changes;
      trainings.clear();
      expand(ends, 0, left, trainings);
      for (const Entry& training : trainings) {
        if (wanted.parity && !at_parity(training)) continue;
        for (std::size_t i = first; i < next; ++i) {
          const Entry entry = together(training, evaluations[i]);
          if (may_fit(entry.choice, wanted.target) && fits(entry.choice, wanted.target))
            found.push_back(entry);
        }
      }
    }
  }
  return found;
}

// `parity`: with no change that costs more than that.
std::optional<PricedPlan> Planner::fewest(const Target& target, bool parity) {
  const Wanted wanted{target, parity, evaluations(parity ? quality::parity : any_cost)};
  for (std::size_t count = 1; count <= space_.slots.size(); ++count) {
    int most = 0;
    for (const Entry& evaluation : wanted.evaluations) {
      if (static_cast<std::size_t>(evaluation.changes) > count) break;
      for (const Group& group : with_changes(count - evaluation.changes))
        most = std::max(most, evaluation.quality + group.most);
    }
    std::vector<Entry> found;
    for (int cost = 0; cost <= most && found.empty(); ++cost) found = fitting(count, cost, wanted);
    double fastest = beyond;
    for (Entry& entry : found) {
      entry.seconds = pricer_.seconds(entry.choice);
      fastest = std::min(fastest, entry.seconds);
    }
    const Entry* best = nullptr;
    const auto cost = [this](const Entry& entry) {
      return std::make_pair(only_slack(entry.choice), entry.seconds);
    };
    for (const Entry& entry : found) {
      if (entry.seconds > same_speed * fastest) continue;
      if (best == nullptr || cost(entry) < cost(*best)) best = &entry;
    }
    if (best != nullptr) return plan(best->choice, wanted.target.usable);
  }
  return std::nullopt;
}

}  // namespace plimsoll::advice
