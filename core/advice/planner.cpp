#include "core/advice/planner.h"

#include <algorithm>
#include <utility>

#include "core/advice/by_quality.h"

namespace plimsoll::advice {

namespace {

bool saves_further(const Price& price, const Price& before) {
  return price.sizes.high <= before.sizes.high && price.sizes.needed <= before.sizes.needed;
}

// A higher rank may take less: paged states of small tensors stay on the card, and of some methods r is a
// number of blocks. A smaller batch may take more: very small tensors are not offloaded, and an instant with
// other parts may become the highest. What needs more than the level before it is no level of a scale. Nor is
// one that cannot be priced, such as one that a locked field follows: at a scale's end it would hide every
// plan.
std::vector<Option> without_idle_levels(Pricer& pricer, const Slot& slot, std::size_t place) {
  std::vector<Option> kept = {slot.options.front()};
  const Price* before = slot.options[1].level.may_rise ? nullptr : pricer.price(Choice{});
  for (std::size_t option = 1; option < slot.options.size(); ++option) {
    Choice alone{};
    alone[place] = static_cast<uint8_t>(option);
    const Price* price = pricer.price(alone);
    const bool apart = slot.options[option].level.apart;
    if (price == nullptr || (!apart && before != nullptr && !saves_further(*price, *before))) continue;
    if (!apart) before = price;
    kept.push_back(slot.options[option]);
  }
  return kept;
}

Space without_idle_levels(const Basis& basis, Space space) {
  Pricer pricer(basis, space);
  Space left;
  for (std::size_t place = 0; place < space.slots.size(); ++place) {
    const Slot& slot = space.slots[place];
    const bool scale = slot.kind == FixKind::scale;
    std::vector<Option> kept = scale ? without_idle_levels(pricer, slot, place) : slot.options;
    if (kept.size() > 1) left.slots.push_back({slot.name, slot.kind, std::move(kept)});
  }
  return left;
}

}  // namespace

Planner::Planner(const Basis& basis, Space space)
    : space_(without_idle_levels(basis, std::move(space))),
      pricer_(basis, space_),
      allocator_(space_.find("allocator")) {
  for (std::size_t i = 0; i < space_.slots.size(); ++i) {
    if (space_.slots[i].kind == FixKind::scale || pricer_.is_cheap(i)) loose_.push_back(i);
  }
  list_structures();
}

void Planner::list_structures() {
  std::vector<Structure> all(1);
  for (std::size_t i = 0; i < space_.slots.size(); ++i) {
    if (std::find(loose_.begin(), loose_.end(), i) != loose_.end()) continue;
    const std::size_t before = all.size();
    const std::vector<Option>& options = space_.slots[i].options;
    for (std::size_t option = 1; option < options.size(); ++option) {
      for (std::size_t s = 0; s < before; ++s) {
        Structure next = all[s];
        next.choice[i] = static_cast<uint8_t>(option);
        ++next.changes;
        next.quality += options[option].level.quality;
        next.parity = next.parity && options[option].level.quality <= quality::parity;
        all.push_back(next);
      }
    }
  }
  // What misses what one of its changes needs is never resolved.
  all.erase(std::remove_if(all.begin(), all.end(),
                           [this](const Structure& s) { return !pricer_.supplied(s.choice); }),
            all.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const Structure& a, const Structure& b) { return a.changes < b.changes; });
  structures_ = std::move(all);
}

// Where a choice needs least by its scales: each of them at its end; one that may rise at its end and not
// moved at all; one whose last level stands apart there and at the level before. `free_only`: those alone
// that cost nothing in quality.
std::vector<Choice> Planner::ends_of(const Choice& choice, bool free_only) const {
  std::vector<Choice> ends = {choice};
  for (std::size_t slot : loose_) {
    const std::vector<Option>& options = space_.slots[slot].options;
    if (pricer_.is_cheap(slot) || (free_only && options.back().level.quality != 0)) continue;
    const std::size_t before = ends.size();
    const std::size_t last = options.size() - 1, first_end = space_.slots[slot].end_for(0);
    for (std::size_t i = 0; i < before; ++i) {
      if (options.back().level.may_rise) ends.push_back(ends[i]);
      for (std::size_t end = std::max<std::size_t>(1, first_end); end < last; ++end) {
        ends.push_back(ends[i]);
        ends.back()[slot] = static_cast<uint8_t>(end);
      }
      ends[i][slot] = static_cast<uint8_t>(last);
    }
  }
  return ends;
}

// The least that a choice can reach when its scales go to their ends and the cheap slots are free: a bound
// for everything that shares its structure.
double Planner::floor_of(const Choice& choice, Measure measure) {
  std::vector<Choice> ends = ends_of(choice, false);
  for (std::size_t slot : loose_) {
    if (!pricer_.is_cheap(slot)) continue;
    const std::size_t options = space_.slots[slot].options.size();
    const std::size_t before = ends.size();
    for (std::size_t i = 0; i < before; ++i) {
      for (std::size_t option = 1; option < options; ++option) {
        ends.push_back(ends[i]);
        ends.back()[slot] = static_cast<uint8_t>(option);
      }
    }
  }
  double least = beyond;
  for (const Choice& end : ends) {
    if (const Price* price = pricer_.price(end)) least = std::min(least, value(price->sizes, measure));
  }
  return least;
}

bool Planner::alive(std::size_t structure, const Target& target) {
  Structure& s = structures_[structure];
  double& floor = s.floor[static_cast<int>(target.measure)];
  if (floor < 0) floor = pricer_.valid(s.choice) ? floor_of(s.choice, target.measure) : beyond;
  return floor <= target.usable;
}

bool Planner::fits(const Choice& choice, const Target& target) {
  const Price* price = pricer_.price(choice);
  if (price == nullptr || value(price->sizes, target.measure) > target.usable) return false;
  return !pricer_.simulates() || value(pricer_.confirmed(choice)->sizes, target.measure) <= target.usable;
}

// The choice with the scales that it moves at their ends: it needs no more, and many choices share it.
Choice Planner::moved_to_ends(const Choice& choice) const {
  Choice end = choice;
  for (std::size_t slot : loose_) {
    if (choice[slot] != 0 && !pricer_.is_cheap(slot)) {
      end[slot] = static_cast<uint8_t>(space_.slots[slot].end_for(choice[slot]));
    }
  }
  return end;
}

// Before a choice is priced.
bool Planner::may_fit(const Choice& choice, const Target& target) {
  const Choice end = moved_to_ends(choice);
  return end == choice || fits(end, target);
}

// Before any evaluation is tried with it.
bool Planner::training_may_fit(const Choice& choice, const Target& target) {
  const memory::Sizes* least = pricer_.without_evaluation(moved_to_ends(choice));
  // An evaluation that is the highest instant may leave the allocator half a percent less to hold apart.
  return least == nullptr || 0.99 * value(*least, target.measure) <= target.usable;
}

// A part of the changes that is enough. Leaving out one at a time does not find it: memory is not monotone in
// them, and a change may be there for the sake of another. Parts of fewer than `least` changes are known not
// to fit.
std::optional<Choice> Planner::fitting_part(const Choice& choice, int least, const Target& target) {
  std::vector<std::size_t> made;
  for (std::size_t i = 0; i < space_.slots.size(); ++i) {
    if (choice[i] != 0) made.push_back(i);
  }
  const auto find = [&](const auto& self, const Choice& part, std::size_t from,
                        int left) -> std::optional<Choice> {
    if (left == 0) return fits(part, target) ? std::optional<Choice>(part) : std::nullopt;
    for (std::size_t i = from; i < made.size(); ++i) {
      Choice less = part;
      less[made[i]] = 0;
      if (const std::optional<Choice> found = self(self, less, i + 1, left - 1)) return found;
    }
    return std::nullopt;
  };
  const int count = static_cast<int>(made.size());
  for (int left_out = 1; count - left_out >= std::max(1, least); ++left_out) {
    if (const std::optional<Choice> found = find(find, choice, 0, left_out)) return found;
  }
  return std::nullopt;
}

PricedPlan Planner::plan(const Choice& choice) {
  PricedPlan plan;
  plan.choice = choice;
  plan.price = *pricer_.confirmed(choice);
  plan.price.seconds = pricer_.seconds(choice);
  plan.quality = quality_of(space_, choice);
  return plan;
}

// With nothing but its structure's changes.
Planner::Entry Planner::begin(std::size_t structure) const {
  const Structure& s = structures_[structure];
  Entry entry;
  entry.choice = s.choice;
  entry.structure = structure;
  entry.quality = s.quality;
  entry.changes = s.changes;
  return entry;
}

void Planner::extend(const Entry& from, std::size_t slot, int left, std::vector<Entry>& out) {
  if (left == 0) {
    out.push_back(from);
    return;
  }
  for (std::size_t i = slot; i < loose_.size(); ++i) {
    if (pricer_.is_evaluation(loose_[i])) continue;
    const std::vector<Option>& options = space_.slots[loose_[i]].options;
    for (std::size_t option = 1; option < options.size(); ++option) {
      Entry next = from;
      next.choice[loose_[i]] = static_cast<uint8_t>(option);
      next.quality += options[option].level.quality;
      ++next.changes;
      extend(next, i + 1, left - 1, out);
    }
  }
}

// All choices of exactly `count` changes to the training that the target does not rule out by their
// structure, least cost in quality first. Made for the first target that asks and kept for smaller ones.
const std::vector<Planner::Entry>& Planner::with_changes(std::size_t count, const Target& target) {
  std::vector<Listed>& lists = by_count_[static_cast<int>(target.measure)];
  if (lists.size() <= count) lists.resize(count + 1);
  Listed& listed = lists[count];
  if (listed.usable >= target.usable) return listed.entries;
  listed.usable = target.usable;
  listed.entries.clear();
  const int wanted = static_cast<int>(count);
  for (std::size_t s = 0; s < structures_.size() && structures_[s].changes <= wanted; ++s) {
    if (!alive(s, target)) continue;
    extend(begin(s), 0, wanted - structures_[s].changes, listed.entries);
  }
  sort_by_quality(listed.entries);
  return listed.entries;
}

bool Planner::reachable(const Target& target) {
  for (std::size_t s = 0; s < structures_.size(); ++s) {
    if (alive(s, target)) return true;
  }
  return false;
}

// `parity`: with no change that costs more than that.
std::optional<PricedPlan> Planner::fewest(const Target& target, bool parity) {
  const std::vector<Entry> evaluations = this->evaluations(parity ? quality::parity : any_cost);
  for (std::size_t count = 1; count <= space_.slots.size(); ++count) {
    // All of the least cost in quality. A cost is that of the training and that of the evaluation.
    std::vector<Entry> fitting;
    double fastest = beyond;
    int most = 0;
    for (const Entry& evaluation : evaluations) {
      if (static_cast<std::size_t>(evaluation.changes) > count) break;
      const std::vector<Entry>& trainings = with_changes(count - evaluation.changes, target);
      if (!trainings.empty()) most = std::max(most, evaluation.quality + trainings.back().quality);
    }
    for (int cost = 0; cost <= most && fitting.empty(); ++cost) {
      for (std::size_t first = 0, next = 0; first < evaluations.size(); first = next) {
        // Those of as many changes and the same cost go with the same trainings.
        const auto alike = [&](const Entry& one) {
          return one.changes == evaluations[first].changes && one.quality == evaluations[first].quality;
        };
        while (next < evaluations.size() && alike(evaluations[next])) ++next;
        const Entry& evaluation = evaluations[first];
        if (static_cast<std::size_t>(evaluation.changes) > count) break;
        if (evaluation.quality > cost) continue;
        const std::vector<Entry>& trainings = with_changes(count - evaluation.changes, target);
        auto training =
            std::lower_bound(trainings.begin(), trainings.end(), cost - evaluation.quality,
                             [](const Entry& entry, int quality) { return entry.quality < quality; });
        for (; training != trainings.end() && training->quality + evaluation.quality == cost; ++training) {
          if (parity && !at_parity(*training)) continue;
          if (!alive(training->structure, target) || !training_may_fit(training->choice, target)) continue;
          for (std::size_t i = first; i < next; ++i) {
            const Entry entry = evaluation.changes == 0 ? *training : together(*training, evaluations[i]);
            if (!may_fit(entry.choice, target) || !fits(entry.choice, target)) continue;
            fitting.push_back(entry);
            fitting.back().seconds = pricer_.seconds(entry.choice);
            fastest = std::min(fastest, fitting.back().seconds);
          }
        }
      }
    }
    const Entry* best = nullptr;
    const auto cost = [this](const Entry& entry) {
      return std::make_pair(only_slack(entry.choice), entry.seconds);
    };
    for (const Entry& entry : fitting) {
      if (entry.seconds > same_speed * fastest) continue;
      if (best == nullptr || cost(entry) < cost(*best)) best = &entry;
    }
    if (best != nullptr) return plan(best->choice);
  }
  return std::nullopt;
}

// An allocator setting makes no tensor smaller.
bool Planner::only_slack(const Choice& choice) const {
  return allocator_ < space_.slots.size() && choice[allocator_] != 0;
}

Plans Planner::plans(const Target& target) {
  Plans plans;
  if (!reachable(target)) return plans;
  plans.fastest = quickest(target, 1, false);
  if (plans.fastest) {
    plans.fewest = fewest(target, true);
    plans.same = quickest(target, 1, true);
  } else {
    plans.fewest = fewest(target, false);
    plans.fastest = least_loss(target, changes_in(plans.fewest->choice));
  }
  plans.usual = usual(target, false);
  // Before less is learned, the plan that only the high end of the band contradicts.
  if (plans.usual && heaviest_in(space_, plans.usual->choice) > quality::parity) {
    const std::optional<PricedPlan> tight = usual({target.usable, Measure::needed}, true);
    if (tight) plans.usual = tight;
  }
  return plans;
}

PricedPlan Planner::least(Measure measure) {
  std::size_t lowest = 0;
  double least = beyond;
  for (std::size_t s = 0; s < structures_.size(); ++s) {
    const bool there = alive(s, {0, measure});
    const double floor = structures_[s].floor[static_cast<int>(measure)];
    if (!there && floor < least) {
      least = floor;
      lowest = s;
    }
  }
  // Which of the cheap options reaches it, and with which scales: an end that saves nothing is no change.
  Choice best = structures_[lowest].choice;
  std::vector<Choice> grown = {best};
  for (std::size_t slot : loose_) {
    const std::size_t options = space_.slots[slot].options.size();
    const std::size_t before = grown.size();
    const std::size_t from =
        pricer_.is_cheap(slot) ? 1 : std::max<std::size_t>(1, space_.slots[slot].end_for(0));
    for (std::size_t option = from; option < options; ++option) {
      for (std::size_t i = 0; i < before; ++i) {
        Choice next = grown[i];
        next[slot] = static_cast<uint8_t>(option);
        grown.push_back(next);
      }
    }
  }
  double reached = beyond;
  for (const Choice& candidate : grown) {
    const Price* price = pricer_.price(candidate);
    if (price == nullptr || value(price->sizes, measure) >= reached) continue;
    reached = value(price->sizes, measure);
    best = candidate;
  }
  return plan(best);
}

}  // namespace plimsoll::advice
