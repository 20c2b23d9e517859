#include "core/advice/planner.h"

#include <algorithm>
#include <utility>

namespace plimsoll::advice {

namespace {

bool saves_further(const Price& price, const Price& before) {
  return price.sizes.enough <= before.sizes.enough && price.sizes.needed <= before.sizes.needed;
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

// Where a choice needs least by these slots: each scale at its end, one that may rise at its end and not moved
// at all, one whose last level stands apart there and at the level before; a cheap slot in every way.
std::vector<Choice> Planner::ends_of(const Choice& choice, const std::vector<std::size_t>& slots) const {
  std::vector<Choice> ends = {choice};
  for (std::size_t slot : slots) {
    const std::vector<Option>& options = space_.slots[slot].options;
    const bool stays = pricer_.is_cheap(slot) || options.back().level.may_rise;
    const std::size_t first = first_end(slot);
    const std::size_t before = ends.size();
    for (std::size_t i = 0; i < before; ++i) {
      for (std::size_t option = first; option < options.size(); ++option) {
        if (!stays && option + 1 == options.size()) {
          ends[i][slot] = static_cast<uint8_t>(option);
          continue;
        }
        ends.push_back(ends[i]);
        ends.back()[slot] = static_cast<uint8_t>(option);
      }
    }
  }
  return ends;
}

// The least that a choice can reach when its scales go to their ends and the cheap slots are free: a bound
// for everything that shares its structure.
double Planner::floor_of(const Choice& choice, Measure measure) {
  double least = beyond;
  for (const Choice& end : ends_of(choice, loose_)) {
    if (const Price* price = pricer_.price(end)) least = std::min(least, value(price->sizes, measure));
  }
  return least;
}

// Whether the choice fits with something else in the open slots.
bool Planner::may_reach(const Choice& choice, const std::vector<std::size_t>& open, const Target& target) {
  std::vector<std::size_t> training, evaluation;
  for (std::size_t slot : open) (pricer_.is_evaluation(slot) ? evaluation : training).push_back(slot);
  for (const Choice& end : ends_of(choice, training)) {
    if (!training_may_fit(end, target)) continue;
    for (const Choice& both : ends_of(end, evaluation)) {
      if (fits(both, target)) return true;
    }
  }
  return false;
}

bool Planner::alive(std::size_t structure, const Target& target) {
  Structure& s = structures_[structure];
  double& floor = s.floor[static_cast<int>(target.measure)];
  if (floor < 0) floor = pricer_.valid(s.choice) ? floor_of(s.choice, target.measure) : beyond;
  return floor <= target.usual();
}

bool Planner::fits(const Choice& choice, const Target& target) {
  const Price* price = pricer_.price(choice);
  if (price == nullptr) return false;
  const double slack = price->simulates ? target.slack : 1;
  return value(price->sizes, target.measure) <= target.usable * slack;
}

std::size_t Planner::end_for(std::size_t slot, std::size_t option) const {
  return pricer_.is_cheap(slot) ? option : space_.slots[slot].end_for(option);
}

// The first option of those from which a slot needs least: of a cheap slot, each may.
std::size_t Planner::first_end(std::size_t slot) const {
  return pricer_.is_cheap(slot) ? 1 : std::max<std::size_t>(1, space_.slots[slot].end_for(0));
}

// The choice with the scales that it moves at their ends: it needs no more, and many choices share it.
Choice Planner::moved_to_ends(const Choice& choice) const {
  Choice end = choice;
  for (std::size_t slot : loose_) {
    if (choice[slot] != 0) end[slot] = static_cast<uint8_t>(end_for(slot, choice[slot]));
  }
  return end;
}

// Before a choice is priced.
bool Planner::may_fit(const Choice& choice, const Target& target) {
  const Choice end = moved_to_ends(choice);
  return end == choice || fits(end, target);
}

// What it needs before any evaluation is tried with it, its scales at their ends.
double Planner::training_floor(const Choice& choice, Measure measure) {
  const memory::Sizes* least = pricer_.without_evaluation(moved_to_ends(choice));
  // An evaluation that is the highest instant may leave the allocator half a percent less to hold apart.
  return least == nullptr ? 0 : 0.99 * value(*least, measure);
}

bool Planner::training_may_fit(const Choice& choice, const Target& target) {
  return training_floor(choice, target.measure) <= target.usual();
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

PricedPlan Planner::plan(const Choice& choice, double usable) {
  PricedPlan plan;
  plan.choice = choice;
  plan.price = *pricer_.confirmed(choice, usable);
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

bool Planner::reachable(const Target& target) {
  for (std::size_t s = 0; s < structures_.size(); ++s) {
    if (alive(s, target)) return true;
  }
  return false;
}

// An allocator setting makes no tensor smaller.
bool Planner::only_slack(const Choice& choice) const {
  return allocator_ < space_.slots.size() && choice[allocator_] != 0;
}

// The readings that are not there yet.
void Planner::search(const Target& target, Plans& plans) {
  if (!reachable(target)) return;
  const auto mild = [this](const PricedPlan& plan) {
    return heaviest_in(space_, plan.choice) <= quality::parity;
  };
  std::optional<PricedPlan> quick = plans.fastest;
  if (!quick || !mild(*quick)) quick = quickest(target, 1, false);
  if (!plans.fewest) plans.fewest = fewest(target, quick.has_value());
  if (!plans.same && quick) plans.same = quickest(target, 1, true);
  if (!plans.fastest) plans.fastest = quick;
  if (!plans.fastest && plans.fewest) plans.fastest = least_loss(target, changes_in(plans.fewest->choice));
  if (!plans.usual) plans.usual = usual(target, false);
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
  std::vector<Choice> candidates = {best};
  for (const std::size_t slot : loose_) add_options(candidates, space_, slot, first_end(slot));
  double reached = beyond;
  for (const Choice& candidate : candidates) {
    const Price* price = pricer_.price(candidate);
    if (price == nullptr || value(price->sizes, measure) >= reached) continue;
    reached = value(price->sizes, measure);
    best = candidate;
  }
  return plan(best, pricer_.usable());
}

}  // namespace plimsoll::advice
