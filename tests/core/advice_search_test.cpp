// The search for plans: exact against exhaustive search, and its prices against full replays.
#include <algorithm>
#include <map>
#include <memory>
#include <tuple>

#include "core/report/advice.h"
#include "tests/core/advice_requests.h"

namespace plimsoll::report {
namespace {

using advice::Choice;
using advice::Measure;

// A run read, with all that the planner needs kept beside it.
struct Prepared {
  Run run;
  recipe::Surroundings around;
  advice::Basis basis;
  explicit Prepared(Run given)
      : run(std::move(given)),
        around(surroundings(run)),
        basis{run.network,
              run.given,
              *run.stack,
              around,
              run.resolved,
              run.gpu,
              *presets().find_gpu("a100-sxm-80"),
              run.machine,
              run.context,
              run.resolved.recipe.locks} {}
};
std::unique_ptr<Prepared> prepare(const Json& request) {
  json::Errors errors;
  std::optional<Run> run = read_run(json::write(request), presets(), errors);
  return run ? std::make_unique<Prepared>(std::move(*run)) : nullptr;
}

// Every choice, one after another.
std::vector<Choice> every_choice(const advice::Space& space) {
  std::vector<Choice> all(1);
  for (std::size_t slot = 0; slot < space.slots.size(); ++slot) {
    const std::size_t before = all.size();
    for (std::size_t option = 1; option < space.slots[slot].options.size(); ++option) {
      for (std::size_t i = 0; i < before; ++i) {
        Choice next = all[i];
        next[slot] = static_cast<uint8_t>(option);
        all.push_back(next);
      }
    }
  }
  return all;
}

struct Tried {
  Choice choice;
  double high = 1e300, seconds = 0;
  int changes = 0, quality = 0, heaviest = 0;
  bool only_slack = false;
};

// What the planner should find, by trying everything.
struct Expected {
  const Tried* same = nullptr;
  const Tried* fewest = nullptr;
  const Tried* fastest = nullptr;
};

Expected exhaustive(const std::vector<Tried>& tried, const std::map<Choice, double>& highs, double usable) {
  Expected best;
  std::vector<const Tried*> plans;
  const auto fits = [&](const Choice& choice) {
    const auto found = highs.find(choice);
    return found != highs.end() && found->second <= usable;
  };
  for (const Tried& one : tried) {
    if (one.changes == 0 || one.high > usable) continue;
    // Every part of the changes that is neither all of them nor none.
    std::vector<std::size_t> made;
    for (std::size_t slot = 0; slot < one.choice.size(); ++slot) {
      if (one.choice[slot] != 0) made.push_back(slot);
    }
    bool needed = true;
    for (uint64_t kept = 1; kept + 1 < uint64_t{1} << made.size(); ++kept) {
      Choice part = one.choice;
      for (std::size_t i = 0; i < made.size(); ++i) {
        if ((kept >> i & 1) == 0) part[made[i]] = 0;
      }
      needed = needed && !fits(part);
    }
    if (!needed) continue;
    const auto better = [&](const Tried* than, auto cost) {
      return than == nullptr || cost(one) < cost(*than);
    };
    const auto by_loss = [](const Tried& t) { return std::make_tuple(t.quality, t.seconds); };
    if (better(best.fastest, by_loss)) best.fastest = &one;
    plans.push_back(&one);
  }
  // Of those that may not cost more than `most` the fastest; of what is as fast for all that is known, the
  // fewest changes.
  const auto quickest = [&](int most) {
    double fastest = 1e300;
    for (const Tried* one : plans) {
      if (one->heaviest <= most) fastest = std::min(fastest, one->seconds);
    }
    const Tried* found = nullptr;
    const auto cost = [](const Tried& t) {
      return std::make_tuple(t.changes, t.quality, t.only_slack, t.seconds);
    };
    for (const Tried* one : plans) {
      if (one->heaviest > most || one->seconds > advice::same_speed * fastest) continue;
      if (found == nullptr || cost(*one) < cost(*found)) found = one;
    }
    return found;
  };
  // The fewest of the least cost; of these again the fastest, as far as that is known.
  const auto by_count = [](const Tried& t) {
    return std::make_tuple(t.heaviest > advice::quality::parity, t.changes, t.quality);
  };
  const Tried* first = nullptr;
  double fastest = 1e300;
  for (const Tried* one : plans) {
    if (first != nullptr && by_count(*first) < by_count(*one)) continue;
    if (first == nullptr || by_count(*one) < by_count(*first)) fastest = 1e300;
    first = one;
    fastest = std::min(fastest, one->seconds);
  }
  for (const Tried* one : plans) {
    const auto cost = [](const Tried& t) { return std::make_pair(t.only_slack, t.seconds); };
    if (by_count(*one) != by_count(*first) || one->seconds > advice::same_speed * fastest) continue;
    if (best.fewest == nullptr || cost(*one) < cost(*best.fewest)) best.fewest = one;
  }
  best.same = quickest(advice::quality::none);
  if (const Tried* found = quickest(advice::quality::parity)) best.fastest = found;
  return best;
}

TEST(Advice, TheSearchFindsWhatTryingEverythingFinds) {
  // A few fixes at a time keep the exhaustive side small; which ones, and how much room, is drawn.
  int compared = 0, plans = 0, evaluated = 0;
  for (uint64_t seed = 1; seed <= requests(100); ++seed) {
    const std::unique_ptr<Prepared> prepared = prepare(run_to_advise(seed));
    if (!prepared) continue;
    Dice dice(seed * 7919);
    std::vector<const advice::Fix*> some;
    for (const advice::Fix* fix : advice::fixes()) {
      if (dice.one_in(4)) some.push_back(fix);
    }
    const advice::Situation situation{prepared->run.network, prepared->run.resolved.recipe,
                                      prepared->run.resolved.values, nullptr};
    advice::Space space = advice::open_choices(situation, prepared->basis.locks, some);
    std::size_t size = 1;
    for (const advice::Slot& slot : space.slots) size *= slot.options.size();
    if (size < 2 || size > 120) continue;
    advice::Planner planner(prepared->basis, space);
    std::vector<Tried> tried;
    std::map<Choice, double> highs;
    double lowest = 1e300, highest = 0;
    for (const Choice& choice : every_choice(space)) {
      const advice::Price* price = planner.pricer().price(choice);
      if (price == nullptr) continue;
      Tried one{choice,
                price->sizes.high,
                planner.pricer().seconds(choice),
                advice::changes_in(choice),
                advice::quality_of(space, choice),
                0,
                space.find("allocator") < space.slots.size() && choice[space.find("allocator")] != 0};
      for (std::size_t slot = 0; slot < space.slots.size(); ++slot) {
        one.heaviest = std::max(one.heaviest, space.slots[slot].options[choice[slot]].level.quality);
      }
      highs[choice] = one.high;
      lowest = std::min(lowest, one.high);
      highest = std::max(highest, one.high);
      tried.push_back(one);
    }
    const double usable = lowest + (highs[Choice{}] - lowest) * static_cast<double>(dice.draw(1000)) / 1000;
    if (highs[Choice{}] <= usable) continue;
    const Expected expected = exhaustive(tried, highs, usable);
    advice::Planner fresh(prepared->basis, space);
    const advice::Plans found = fresh.plans({usable, Measure::high});
    ++compared;
    for (std::size_t slot = 0; slot < space.slots.size(); ++slot) {
      const bool of_evaluation = fresh.pricer().is_evaluation(slot);
      evaluated += of_evaluation && expected.fewest != nullptr && expected.fewest->choice[slot] != 0;
    }
    ASSERT_EQ(found.fewest.has_value(), expected.fewest != nullptr) << seed;
    ASSERT_EQ(found.same.has_value(), expected.same != nullptr) << seed;
    ASSERT_EQ(found.fastest.has_value(), expected.fastest != nullptr) << seed;
    if (expected.fewest != nullptr) {
      EXPECT_EQ(advice::changes_in(found.fewest->choice), expected.fewest->changes) << seed;
      EXPECT_EQ(found.fewest->quality, expected.fewest->quality) << seed;
      EXPECT_EQ(found.fewest->price.seconds, expected.fewest->seconds) << seed;
      ++plans;
    }
    if (expected.same != nullptr) {
      EXPECT_EQ(found.same->price.seconds, expected.same->seconds) << seed;
      EXPECT_EQ(advice::changes_in(found.same->choice), expected.same->changes) << seed;
    }
    if (expected.fastest != nullptr) {
      EXPECT_EQ(found.fastest->price.seconds, expected.fastest->seconds) << seed;
    }
  }
  RecordProperty("compared", compared);
  RecordProperty("plans_that_change_the_evaluation", evaluated);
  EXPECT_GT(compared, 20);
  EXPECT_GT(plans, 20);
  EXPECT_GT(evaluated, 0);
}

TEST(Advice, ScalesTakeLessAtEveryStep) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const std::unique_ptr<Prepared> prepared = prepare(run_to_advise(seed));
    if (!prepared) continue;
    Dice dice(seed * 104729);
    const advice::Situation situation{prepared->run.network, prepared->run.resolved.recipe,
                                      prepared->run.resolved.values, nullptr};
    const advice::Space space = advice::open_choices(situation, {});
    advice::Pricer pricer(prepared->basis, space);
    for (std::size_t slot = 0; slot < space.slots.size(); ++slot) {
      if (space.slots[slot].kind != advice::Kind::scale) continue;
      // Whatever else is chosen.
      Choice choice{};
      for (std::size_t other = 0; seed % 2 == 0 && other < space.slots.size(); ++other) {
        if (dice.one_in(3))
          choice[other] = static_cast<uint8_t>(dice.draw(space.slots[other].options.size()));
      }
      double before = 1e300;
      for (std::size_t option = 0; option < space.slots[slot].options.size(); ++option) {
        choice[slot] = static_cast<uint8_t>(option);
        const advice::Price* price = pricer.price(choice);
        const advice::Level& level = space.slots[slot].options[option].level;
        if (price == nullptr || level.apart) continue;
        if (option == 0 && space.slots[slot].options[1].level.may_rise) continue;
        EXPECT_LE(price->sizes.high, before) << seed << " " << space.slots[slot].name << " " << option;
        before = price->sizes.high;
      }
    }
  }
}

// Optimizers and allocator settings are added to a replay, scales are set without their defaults being
// resolved again: both must give what a full replay of the changed request gives, on one GPU and on several.
TEST(Advice, APriceIsThatOfAFullReplay) {
  int compared = 0, evaluated = 0;
  for (uint64_t seed = 1; seed <= requests(120); ++seed) {
    Json request = run_to_advise(seed);
    Dice dice(seed * 15485863);
    const std::vector<std::string> strategies = {"ddp", "fsdp", "zero2", "zero3"};
    if (dice.one_in(2)) request["parallel"] = {{"num_gpus", 2}, {"strategy", dice.one_of(strategies)}};
    request["locks"] = Json::array();
    const std::unique_ptr<Prepared> prepared = prepare(request);
    if (!prepared) continue;
    const advice::Situation situation{prepared->run.network, prepared->run.resolved.recipe,
                                      prepared->run.resolved.values, nullptr};
    const advice::Space space = advice::open_choices(situation, {});
    advice::Pricer pricer(prepared->basis, space);
    for (int tries = 0; tries < 12; ++tries) {
      Choice choice{};
      for (std::size_t slot = 0; slot < space.slots.size(); ++slot) {
        if (dice.one_in(4)) choice[slot] = static_cast<uint8_t>(dice.draw(space.slots[slot].options.size()));
      }
      const advice::Price* price = pricer.price(choice);
      if (price == nullptr) continue;
      const auto full = advice::change(prepared->basis, advice::changes_of(space, choice));
      ASSERT_TRUE(full.has_value()) << seed;
      EXPECT_NEAR(price->sizes.high, full->price.sizes.high, 1) << seed << json::write(request);
      EXPECT_NEAR(pricer.seconds(choice), full->price.seconds, 1e-9 * full->price.seconds) << seed;
      ++compared;
      if (const memory::Sizes* training = pricer.without_evaluation(choice)) {
        EXPECT_LE(training->high, price->sizes.high + 1) << seed;
        EXPECT_LE(training->needed, price->sizes.needed + 1) << seed;
      }
      for (std::size_t slot = 0; slot < space.slots.size(); ++slot) {
        if (choice[slot] == 0 || !pricer.is_evaluation(slot)) continue;
        ++evaluated;
        break;
      }
    }
  }
  EXPECT_GT(compared, 200);
  EXPECT_GT(evaluated, 20);
}

// Small batches of an evaluation are highest in a layer, whose gathered parameters FSDP's stream keeps; large
// ones in the head, where no layer is gathered.
TEST(Advice, AnotherEvaluationIsPricedWithWhatFsdpHasGatheredThen) {
  const Json request = {{"model", "qwen2.5-7b"},
                        {"stack", "trl"},
                        {"training",
                         {{"per_device_train_batch_size", 4},
                          {"gradient_accumulation_steps", 8},
                          {"max_length", 1536},
                          {"gradient_checkpointing", true},
                          {"optim", "adamw_bnb_8bit"},
                          {"eval_strategy", "steps"},
                          {"per_device_eval_batch_size", 15},
                          {"compute_metrics", true}}},
                        {"peft", {{"r", 64}, {"target_modules", "all-linear"}}},
                        {"model_args", {{"dtype", "float32"}}},
                        {"data", {{"eval_samples", 13}}},
                        {"parallel", {{"num_gpus", 2}, {"strategy", "fsdp"}}}};
  const std::unique_ptr<Prepared> prepared = prepare(request);
  ASSERT_TRUE(prepared);
  const advice::Situation situation{prepared->run.network, prepared->run.resolved.recipe,
                                    prepared->run.resolved.values, nullptr};
  const advice::Space space = advice::open_choices(situation, {});
  advice::Pricer pricer(prepared->basis, space);
  int compared = 0;
  for (std::size_t micro = 0; micro < space.slots.size(); ++micro) {
    for (std::size_t slot = 0; slot < space.slots.size(); ++slot) {
      if (slot == micro || !pricer.is_evaluation(slot)) continue;
      for (std::size_t option = 1; option < space.slots[slot].options.size(); ++option) {
        Choice choice{};
        choice[slot] = static_cast<uint8_t>(option);
        choice[micro] = static_cast<uint8_t>(space.slots[micro].options.size() - 1);
        const advice::Price* price = pricer.price(choice);
        if (price == nullptr) continue;
        const auto full = advice::change(prepared->basis, advice::changes_of(space, choice));
        EXPECT_NEAR(price->sizes.high, full->price.sizes.high, 1) << space.slots[micro].name << " " << option;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 10);
}

// With a smaller micro-batch than the effective batch, the gradients of one micro-batch lie there while the
// next one runs. In full fine-tuning that can cost more than the smaller batch saves, and shorter sequences
// alone are the plan.
TEST(Advice, AccumulationThatCostsMemoryDoesNotHideThePlanWithoutIt) {
  Json request = {{"model", "llama-3.2-1b"},
                  {"training",
                   {{"per_device_train_batch_size", 2},
                    {"gradient_accumulation_steps", 1},
                    {"max_length", 1280},
                    {"gradient_checkpointing", false},
                    {"optim", "paged_adamw_8bit"},
                    {"bf16", true}}},
                  {"model_args", {{"dtype", "float32"}}}};
  const std::unique_ptr<Prepared> prepared = prepare(request);
  ASSERT_TRUE(prepared);
  std::vector<const advice::Fix*> some;
  for (const advice::Fix* fix : advice::fixes()) {
    if (fix->id == "micro_batch" || fix->id == "shorter") some.push_back(fix);
  }
  const advice::Situation situation{prepared->run.network, prepared->run.resolved.recipe,
                                    prepared->run.resolved.values, nullptr};
  const advice::Space space = advice::open_choices(situation, {}, some);
  advice::Planner planner(prepared->basis, space);
  Choice smaller{}, shortest{};
  smaller[space.find("micro_batch")] = 1;
  shortest[space.find("length")] = 3;
  const double usable = planner.pricer().price(shortest)->sizes.high;
  smaller[space.find("length")] = 3;
  ASSERT_GT(planner.pricer().price(smaller)->sizes.high, usable);
  const advice::Plans plans = planner.plans({usable, Measure::high});
  ASSERT_TRUE(plans.fewest);
  EXPECT_EQ(plans.fewest->choice, shortest);
}

// A sample alone in its batch needs no mask, and on a T4 its scores are all kept: two may fit where one does
// not.
TEST(Advice, AMicroBatchOfOneThatNeedsMoreDoesNotHideTheOneOfTwo) {
  const Json request = {{"model", "llama-3.2-1b"},
                        {"stack", "hf"},
                        {"hardware", {{"gpu", "t4"}}},
                        {"training",
                         {{"per_device_train_batch_size", 8},
                          {"gradient_accumulation_steps", 2},
                          {"gradient_checkpointing", false},
                          {"max_length", 2048},
                          {"fp16", true}}},
                        {"peft", {{"r", 8}}},
                        {"versions", {{"transformers", "4.57"}}}};
  const std::unique_ptr<Prepared> prepared = prepare(request);
  ASSERT_TRUE(prepared);
  std::vector<const advice::Fix*> some;
  for (const advice::Fix* fix : advice::fixes()) {
    if (fix->id == "micro_batch") some.push_back(fix);
  }
  const advice::Situation situation{prepared->run.network, prepared->run.resolved.recipe,
                                    prepared->run.resolved.values, prepared->run.gpu};
  const advice::Space space = advice::open_choices(situation, {}, some);
  ASSERT_EQ(space.slots.front().options.size(), 4U);  // as it is, 4, 2 and 1
  advice::Planner planner(prepared->basis, space);
  Choice two{}, one{};
  two[0] = 2;
  one[0] = 3;
  const double usable = planner.pricer().price(two)->sizes.high;
  ASSERT_GT(planner.pricer().price(one)->sizes.high, usable);
  const advice::Plans plans = planner.plans({usable, Measure::high});
  ASSERT_TRUE(plans.fewest);
  EXPECT_EQ(plans.fewest->choice, two);
}

TEST(Advice, MostChoicesAreNeverPriced) {
  const std::unique_ptr<Prepared> prepared = prepare(request_of("a-before"));
  ASSERT_TRUE(prepared);
  const advice::Situation situation{prepared->run.network, prepared->run.resolved.recipe,
                                    prepared->run.resolved.values, prepared->run.gpu};
  for (std::size_t count : {10u, 20u, 30u, 40u}) {
    const auto some = advice::fixes().first(std::min(count, advice::fixes().size()));
    const advice::Space space = advice::open_choices(situation, {}, some);
    double all = 1;
    for (const advice::Slot& slot : space.slots) all *= static_cast<double>(slot.options.size());
    advice::Planner planner(prepared->basis, space);
    for (std::size_t i = presets().tiers.size(); i-- > 0;) {
      planner.plans({static_cast<double>(presets().tiers[i].usable_bytes), Measure::high});
    }
    const auto replays = static_cast<double>(planner.pricer().replays);
    RecordProperty("with_" + std::to_string(count), std::to_string(all) + " choices, " +
                                                        std::to_string(replays) + " replays, " +
                                                        std::to_string(planner.pricer().priced) + " priced");
    if (all > 10000) {
      EXPECT_LT(replays, all / 20) << count;
    }
  }
}
}  // namespace
}  // namespace plimsoll::report
