// The best plans for each memory size: exact, under three readings.
//
//     Planner planner(basis, open_choices(situation, locks));
//     Plans plans = planner.plans({usable, Measure::enough});
//     if (plans.fewest) changes_of(planner.space(), plans.fewest->choice);
//
// A plan is a choice that fits and would not fit without any one of its changes. Readings:
//   same     nothing learned changes; of these the fastest
//   fewest   the fewest changes that published comparisons cannot tell apart, or where those do not suffice
//            the fewest of all; of these the least cost in quality, then the fastest
//   fastest  changes that published comparisons cannot tell apart; of these the fastest. Only when none of
//            those fits: the least cost in quality, then the fastest
//   usual    what a person who trains every week would try first (usual.h): nothing that comes later in that
//            order where what comes before suffices, and of these the mildest
// Of plans whose times differ by less than the time model can tell, the one with the fewest changes counts as
// the fastest, and one that makes tensors smaller comes before one that only sets the allocator.
//
// A search asks for thousands of prices, so they are those of the usual reserve. Where the basis has a simulated
// allocator, it confirms what was found (planner_confirmed.cpp).
//
// The search is exhaustive in effect, not in work: choices are ordered by what a reading minimises, memory is
// priced lazily, and whatever cannot fit even with every scale at its end is never looked at.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "core/advice/price.h"

namespace plimsoll::advice {

/// enough: the run fits for sure; needed: it survives when cached blocks are given back.
enum class Measure { enough, needed };
struct Target {
  double usable = 0;
  Measure measure = Measure::enough;
  double slack =
      1;  ///< so much more may the usual reserve ask for, where the simulated allocator asks for less

  double usual() const { return usable * slack; }
};

/// Times within this ratio are the same: the time model's median error on packed runs is 5 %.
constexpr double same_speed = 1.05;

/// More bytes or seconds than any run takes, and more cost in quality than any choice has.
constexpr double beyond = 1e300;
constexpr int any_cost = 1 << 20;

struct PricedPlan {
  Choice choice{};
  Price price;
  int quality = 0;
};

struct Plans {
  std::optional<PricedPlan> usual, same, fewest, fastest;
  bool any() const { return fewest.has_value(); }
};

class Planner {
 public:
  Planner(const Basis& basis, Space space);
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  Plans plans(const Target& target);

  /// The least memory that any choice reaches, and that choice.
  PricedPlan least(Measure measure);

  const Space& space() const { return space_; }
  Pricer& pricer() { return pricer_; }

 private:
  struct Structure {  // a choice in every slot but scales and cheap ones
    Choice choice{};
    int changes = 0, quality = 0;
    bool parity = true;          // every change costs at most quality::parity
    double floor[2] = {-1, -1};  ///< by measure
  };
  struct Entry {
    Choice choice{};
    std::size_t structure = 0;
    int quality = 0, changes = 0;
    double seconds = -1;
  };

  static double value(const memory::Sizes& sizes, Measure measure) {
    return measure == Measure::enough ? sizes.enough : sizes.needed;
  }
  bool fits(const Choice& choice, const Target& target);
  void search(const Target& target, Plans& plans);
  Plans confirmed(const Target& wanted);
  double slack_of(const Choice& choice, const Target& target);
  bool is_confirmed(const Choice& choice, const Target& target);
  PricedPlan without_needless(PricedPlan plan, const Target& target);
  bool alive(std::size_t structure, const Target& target);
  std::size_t end_for(std::size_t slot, std::size_t option) const;
  std::size_t first_end(std::size_t slot) const;
  Choice moved_to_ends(const Choice& choice) const;
  bool may_fit(const Choice& choice, const Target& target);
  double training_floor(const Choice& choice, Measure measure);
  bool training_may_fit(const Choice& choice, const Target& target);
  std::vector<Choice> ends_of(const Choice& choice, const std::vector<std::size_t>& slots) const;
  bool may_reach(const Choice& choice, const std::vector<std::size_t>& open, const Target& target);
  double floor_of(const Choice& choice, Measure measure);
  bool only_slack(const Choice& choice) const;
  bool at_parity(const Entry& entry) const;
  std::optional<Choice> fitting_part(const Choice& choice, int least, const Target& target);
  struct Rung {  ///< the options of one fix in a slot
    std::size_t slot, first, last;
  };
  struct Climb {
    Choice reached;
    Measure measure;
    double value;
  };
  void list_rungs();
  bool climb(Climb& climb, const Rung& rung);
  Choice relaxed(Choice choice, const Target& target);
  std::optional<PricedPlan> usual(const Target& target, bool parity);
  void list_structures();
  Entry begin(std::size_t structure) const;
  struct Group {  ///< the choices whose scales end there
    Choice ends{};
    std::size_t structure = 0;
    int least = 0, most = 0;     ///< cost in quality
    double floor[2] = {-1, -1};  ///< by measure, bytes that the training needs there; negative: not asked yet
  };
  void group(const Group& from, std::size_t slot, int left, std::vector<Group>& out) const;
  std::vector<Group>& with_changes(std::size_t count);
  bool training_may_fit(Group& group, const Target& target);
  void expand(const Entry& from, std::size_t slot, int cost, std::vector<Entry>& out) const;
  struct Wanted {
    const Target& target;
    bool parity;  ///< no change costs more than that
    std::vector<Entry> evaluations;
  };
  std::vector<Entry> fitting(std::size_t count, int cost, const Wanted& wanted);
  const std::vector<Entry>& by_time(bool same);
  void branch(std::vector<Entry>& entries, std::size_t slot, int most) const;
  std::vector<Entry> evaluations(int most) const;
  Entry together(const Entry& training, const Entry& evaluation) const;
  bool reachable(const Target& target);
  std::optional<PricedPlan> fewest(const Target& target, bool parity);
  std::optional<PricedPlan> quickest(const Target& target, int least, bool same);
  std::optional<PricedPlan> least_loss(const Target& target, int least);
  struct Loss;
  void spend(Loss& loss, const Choice& choice, std::size_t paid, int left);
  void fill(Loss& loss, const Choice& spent);
  PricedPlan plan(const Choice& choice, double usable);

  Space space_;
  Pricer pricer_;
  const std::size_t allocator_;     ///< its slot, or the number of slots
  std::vector<std::size_t> loose_;  // slots that are scales or cheap
  std::vector<Structure> structures_;
  std::vector<Rung> rungs_;                   ///< in the usual order; listed when they are first asked for
  std::vector<std::vector<Group>> by_count_;  ///< by number of changes
  std::vector<Entry> same_, quick_;
  bool listed_same_ = false, listed_quick_ = false;
};

}  // namespace plimsoll::advice
