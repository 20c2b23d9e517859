// What a choice costs in memory and time, each replay done once.
//
//     Pricer pricer(basis, space);
//     const Price* price = pricer.price(choice);    // null: these changes contradict each other
//     price->sizes.high;                            // must be at most what the card leaves
//     pricer.seconds(choice);                       // of one optimizer step, without a replay
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>

#include "core/advice/change.h"
#include "core/advice/refused.h"
#include "core/advice/space.h"
#include "core/memory/allocator/sizes.h"
#include "core/memory/step/other_evaluations.h"
#include "core/memory/step/replay_memo.h"
#include "core/recipe/fields.h"
#include "core/recipe/variations.h"
#include "core/time/step.h"

namespace plimsoll::advice {

class Pricer {
 public:
  Pricer(const Basis& basis, const Space& space);
  Pricer(const Pricer&) = delete;
  Pricer& operator=(const Pricer&) = delete;

  /// Null when the changes contradict each other, miss what they need or are refused by a library.
  const Price* price(const Choice& choice);
  /// The same by the simulated allocator where the basis asks for it: the high end is never lower.
  const Price* confirmed(const Choice& choice);
  bool simulates() const { return basis_.simulated; }
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

  /// Optimizer, allocator and evaluation: their effect is added to a replay instead of replaying again.
  bool is_cheap(std::size_t slot) const {
    return slot == optimizer_ || slot == allocator_ || is_evaluation(slot);
  }
  /// The part of these that training knows nothing of: neither its memory nor its time.
  bool is_evaluation(std::size_t slot) const { return slot < evaluation_.size() && evaluation_[slot]; }

  /// The changed run, replayed whole: the last word on a plan. As `change` has it, but that fields which
  /// nothing moves are not resolved again, and layers that were replayed before are known.
  std::optional<Changed> changed(const Choice& choice);
  /// What a field is beside other changes; null: nothing.
  json::Json value_beside(const recipe::Values& changes, const std::string& pointer);

  /// Every choice priced so far.
  std::vector<std::pair<Choice, Price>> all() const;

  uint64_t replays = 0, priced = 0;

 private:
  /// What another optimizer takes more than the replayed one.
  struct Stepping {
    bool known = false;
    double states = 0, temporary = 0;
  };
  /// The instant of an evaluation that is set otherwise.
  struct Evaluated {
    uint64_t key;
    memory::Snapshot live;
  };
  /// Of another optimizer and allocator, were there no evaluation.
  struct Training {
    std::size_t key;
    memory::Sizes sizes;
  };
  struct Walk {
    Walk() = default;
    explicit Walk(const recipe::Recipe& of) : valid(true), recipe(of) {}

    bool valid = false, replayed = false;
    recipe::Recipe recipe;
    std::string optim, cuda_alloc_conf;  ///< of the recipe, before a cheap slot sets them
    uint64_t eval_batch = 0, eval_accumulation = 0;
    bool loss_only = false;
    memory::Replay replay;
    std::unique_ptr<memory::OtherEvaluations> others;
    double step_as_replayed = -1;      ///< what the replayed optimizer's step takes; negative: not asked yet
    std::vector<Stepping> optimizers;  ///< by option
    std::vector<Evaluated> evaluated;  ///< those that were asked for
    std::deque<Training> trainings;
    time::Work work;
    std::vector<double> seconds;  ///< of a step, by option of the optimizer; negative until it is asked for
    /// By what the cheap slots choose: place in prices_, from 1, or refused_price.
    std::vector<uint32_t> prices;
  };
  static constexpr uint32_t refused_price = UINT32_MAX;
  /// A field that an option of a slot sets.
  struct Effect {
    const recipe::Field* field;  ///< null: known by no setter
    json::Json value;
    bool locked;
  };
  using Effects = std::vector<std::vector<Effect>>;  ///< by option
  bool steps_apart(const Slot& optimizers);
  Effect effect(const std::string& pointer, const json::Json& value) const;
  bool keeps_locks(const recipe::Variation& after) const;
  uint64_t key(const Choice& choice) const;
  std::size_t cheap_key(const Choice& choice) const;
  Walk& walk(const Choice& choice);
  Walk& replayed(const Choice& choice);
  const recipe::Recipe* resolved(const Choice& choice);
  const recipe::Recipe& with_cheap(Walk& walk, const Choice& choice) const;
  const memory::Parameters& known_parameters(const recipe::Recipe& recipe, const Choice& choice);
  Stepping stepping(Walk& walk, const Choice& choice);
  const memory::Snapshot* evaluated(Walk& walk, const Choice& choice);
  enum class Eval { as_replayed, as_chosen, none };
  memory::Sizes sizes_with(const Walk& walk, const Stepping& optimizer, Eval how,
                           const memory::Snapshot* evaluation) const;

  const Basis& basis_;
  memory::ReplayMemo layers_, adapted_layers_;
  memory::Machine machine_, adapted_machine_;  ///< of the basis, with the layers that were replayed before
  const memory::Machine& machine_for(const recipe::Recipe& recipe) const;
  const Space& space_;
  const Refused refused_;
  recipe::Variations variations_;
  std::vector<uint64_t> radix_;
  std::size_t optimizer_, allocator_;
  std::vector<bool> evaluation_;    ///< by slot
  std::vector<std::size_t> cheap_;  ///< slots
  std::size_t cheap_choices_ = 1;   ///< in all of them
  int evaluations_ = 0;             ///< slots of evaluation among them
  std::vector<bool> weightless_;    ///< by slot: a scale that changes no parameter
  std::unordered_map<uint64_t, memory::Parameters> known_parameters_;  ///< by the choice of all other slots
  std::vector<Effects> effects_;  ///< by slot: of scales, defaults included, and of cheap ones
  std::unordered_map<uint64_t, std::unique_ptr<Walk>> walks_;
  std::unordered_map<uint64_t, std::unique_ptr<Walk>> bases_;  ///< scales as they are
  struct Priced {
    Choice choice{};
    Price price;
  };
  std::deque<Priced> prices_;  ///< in the order in which they were asked for
  std::unordered_map<uint64_t, Price> confirmed_;
};

}  // namespace plimsoll::advice
