// What a choice costs in memory and time, each replay done once.
//
//     Pricer pricer(basis, space);
//     const Price* price = pricer.price(choice);    // null: these changes contradict each other
//     price->sizes.high;                            // must be at most what the card leaves
//     pricer.seconds(choice);                       // of one optimizer step, without a replay
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/advice/effects.h"
#include "core/advice/refused.h"
#include "core/advice/replayed_once.h"
#include "core/advice/slot_roles.h"
#include "core/memory/step/replay_memo.h"
#include "core/time/work.h"

namespace plimsoll::advice {

/// The basis's machine, with the layers of each of its networks that were replayed before.
class Machines {
 public:
  explicit Machines(const Basis& basis);
  Machines(const Machines&) = delete;
  Machines& operator=(const Machines&) = delete;

  const memory::Machine& of(const recipe::Recipe& recipe) const;

 private:
  const Basis& basis_;
  memory::ReplayMemo layers_, adapted_layers_;
  memory::Machine machine_, adapted_machine_;
};

/// The fields that cheap slots set. They are set in place: a recipe is large, and a choice is asked for
/// thousands of times.
struct CheapFields {
  static CheapFields of(const recipe::Recipe& recipe);
  void put_into(recipe::Recipe& recipe) const;

  std::string optim, cuda_alloc_conf;
  uint64_t eval_batch = 0, eval_accumulation = 0;
  bool loss_only = false;
};

class Pricer {
 public:
  Pricer(const Basis& basis, const Space& space);
  Pricer(const Pricer&) = delete;
  Pricer& operator=(const Pricer&) = delete;

  /// Null when the changes contradict each other, miss what they need or are refused by a library.
  const Price* price(const Choice& choice);
  /// The same by the simulated allocator, where the basis has one, of a card on which so much is usable.
  const Price* confirmed(const Choice& choice, double usable);
  /// The sizes of a run that `changed` gave, in the same way.
  const memory::Sizes& sizes_on(double usable, const Choice& choice, const Changed& changed);
  /// Of the run as it is, were the card as large as it likes; only where the basis has a simulated allocator.
  const memory::Sizes& with_room();
  /// Of the chosen card.
  double usable() const { return basis_.card.usable; }
  bool simulates() const { return static_cast<bool>(basis_.card.simulator); }
  /// No evaluation makes these changes to the training need less than this; null: they contradict each other,
  /// or nothing is known. With evaluation the highest instant and the highest of each component are no lower
  /// (allocator.h); what streams of FSDP hold back depends on which instant is the highest.
  const memory::Sizes* without_evaluation(const Choice& choice);
  /// Seconds of a step, without a replay; 0 when invalid.
  double seconds(const Choice& choice);
  /// Whether adapters, a quantised base or neither are there for the changes that need them; says nothing of
  /// other contradictions.
  bool supplied(const Choice& choice) const;
  /// Whether the changes can stand together.
  bool valid(const Choice& choice);

  bool is_cheap(std::size_t slot) const { return roles_.is_cheap(slot); }
  bool is_evaluation(std::size_t slot) const { return roles_.is_evaluation(slot); }

  /// The changed run, replayed whole: the last word on a plan. As `change` has it, but that layers which were
  /// replayed before are known.
  std::optional<Changed> changed(const Choice& choice);
  /// What a field is beside other changes; null: nothing.
  json::Json value_beside(const recipe::Values& changes, const std::string& pointer);

  /// Every choice priced so far.
  std::vector<std::pair<Choice, Price>> all() const;

  uint64_t replays = 0, priced = 0;

 private:
  template <class Value>
  using ByChoice = std::unordered_map<Choice, Value, ChoiceHash>;

  /// All choices that differ in cheap slots alone.
  struct Walk {
    bool valid = false;
    recipe::Recipe recipe;
    CheapFields as_replayed;          ///< of the recipe
    std::optional<ReplayedOnce> run;  ///< once a price is asked for
    std::optional<time::Work> work;   ///< once a time is
    std::vector<double> seconds;  ///< of a step, by option of the optimizer; negative until it is asked for
    /// By what is chosen in the cheap slots: place in prices_, from 1, or refused_price; 0 until it is asked for.
    std::vector<uint32_t> prices;
    std::map<std::size_t, memory::Sizes> trainings;  ///< by the same, with evaluation as it is
  };
  const std::optional<recipe::Recipe>& resolved(const Choice& structure);
  void begin(Walk& walk, const Choice& choice);
  Walk& walk(const Choice& choice);
  Walk& replayed(const Choice& choice);
  const recipe::Recipe& with_cheap(Walk& walk, const Choice& choice) const;
  const memory::Parameters& known_parameters(const recipe::Recipe& recipe, const Choice& choice);

  const Basis& basis_;
  const Space& space_;
  const Machines machines_;
  const Refused refused_;
  const SlotRoles roles_;
  const Effects effects_;
  ByChoice<memory::Parameters> known_parameters_;     ///< by all that changes a parameter
  ByChoice<std::optional<recipe::Recipe>> resolved_;  ///< by structure; nothing: not valid
  ByChoice<std::unique_ptr<Walk>> walks_;             ///< by all but cheap slots
  std::deque<std::pair<Choice, Price>> prices_;
  static constexpr uint32_t refused_price = UINT32_MAX;
  ByChoice<std::map<double, Price>> confirmed_;  ///< by what is usable
  std::optional<memory::Sizes> with_room_;
};

}  // namespace plimsoll::advice
