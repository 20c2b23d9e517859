// The search for plans: cases in which it once went wrong. What holds for all requests is in tests/drawn.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "core/advice/basis.h"
#include "core/advice/space.h"
#include "core/report/advice.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

using advice::Choice;
using advice::Measure;

// Where there is no room for a slot, its fixes would be proposed to nobody.
TEST(Space, HasRoomForEverySlotThatFixesName) {
  std::set<std::string_view> slots;
  for (const advice::Fix* fix : advice::fixes()) slots.insert(fix->slot);
  EXPECT_LE(slots.size(), advice::most_slots);
}

// A run read, with all that the planner needs kept beside it.
struct Prepared {
  run::Run run;
  recipe::ModelTraits traits;
  advice::Basis basis;
  explicit Prepared(run::Run given)
      : run(std::move(given)),
        traits(run::model_traits(run)),
        basis{run.network,
              run.given,
              *run.stack,
              traits,
              run.resolved,
              run.gpu,
              *presets().find_gpu("a100-sxm-80"),
              {run.machine, run.context, {}},
              run.resolved.recipe.locks} {}
};
std::unique_ptr<Prepared> prepare(const Json& request) {
  json::Errors errors;
  std::optional<run::Run> run = run::read_run(json::write(request), presets(), errors);
  return run ? std::make_unique<Prepared>(std::move(*run)) : nullptr;
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
  const advice::FixContext situation = advice::situation_of(prepared->run);
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
        EXPECT_NEAR(price->sizes.enough, full->price.sizes.enough, 1)
            << space.slots[micro].name << " " << option;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 10);
}

// A run of one step meets its states in that step alone, and a reference that scores the data before the
// training begins meets none.
TEST(Advice, AnotherOptimizerIsPricedWhereItsStatesAreAlive) {
  const Json one_step = {{"model", "llama-3.2-1b"},
                         {"training", {{"max_steps", 1}, {"optim", "adamw_torch"}}},
                         {"model_args", {{"dtype", "bfloat16"}}}};
  const Json scored_before = {{"model", "llama-3.2-1b"},
                              {"task", "kto"},
                              {"training", {{"max_length", 2}, {"optim", "adamw_torch"}}},
                              {"rl", {{"precompute_ref_log_probs", true}}},
                              {"peft", {{"r", 64}, {"target_modules", "all-linear"}}},
                              {"model_args", {{"dtype", "bfloat16"}}}};
  for (const Json& request : {one_step, scored_before}) {
    const std::unique_ptr<Prepared> prepared = prepare(request);
    ASSERT_TRUE(prepared);
    const advice::FixContext situation = advice::situation_of(prepared->run);
    const advice::Space space = advice::open_choices(situation, {});
    advice::Pricer pricer(prepared->basis, space);
    const std::size_t optimizer = space.find("optimizer");
    ASSERT_LT(optimizer, space.slots.size());
    for (std::size_t option = 1; option < space.slots[optimizer].options.size(); ++option) {
      Choice choice{};
      choice[optimizer] = static_cast<uint8_t>(option);
      const advice::Price* price = pricer.price(choice);
      if (price == nullptr) continue;
      const auto full = advice::change(prepared->basis, advice::changes_of(space, choice));
      ASSERT_TRUE(full);
      EXPECT_NEAR(price->sizes.enough, full->price.sizes.enough, 1) << option;
    }
  }
}

// On a quantised base Unsloth cuts the loss of half the tokens into four chunks and that of a quarter into none,
// whose logits are all there at once.
TEST(Advice, OfUnslothsLossTheShortestRowNeedNotTakeLeast) {
  const Json request = {{"model", "google/gemma-2-2b"},
                        {"stack", "unsloth"},
                        {"task", "pretrain"},
                        {"training", {{"bf16", false}, {"optim", "paged_lion_32bit"}}},
                        {"peft", {{"target_modules", "all-linear"}, {"use_dora", true}}},
                        {"hardware", {{"gpu", "rtx-5060-ti-8"}}}};
  const std::unique_ptr<Prepared> prepared = prepare(request);
  ASSERT_TRUE(prepared);
  std::vector<const advice::Fix*> some;
  for (const advice::Fix* fix : advice::fixes()) {
    if (fix->slot == "base" || fix->slot == "length") some.push_back(fix);
  }
  const advice::Space open = advice::open_choices(advice::situation_of(prepared->run), {}, some);
  advice::Planner planner(prepared->basis, open);
  const std::size_t base = planner.space().find("base"), length = planner.space().find("length");
  ASSERT_EQ(planner.space().slots.size(), 2U);
  const auto last = static_cast<uint8_t>(planner.space().slots[length].options.size() - 1);
  Choice shortest{}, longer{};
  shortest[base] = longer[base] = 1;
  shortest[length] = last;
  longer[length] = last - 1;
  const double usable = planner.pricer().price(longer)->sizes.enough;
  ASSERT_LT(usable, planner.pricer().price(shortest)->sizes.enough);
  const std::optional<advice::PricedPlan> fewest = planner.plans({usable, Measure::enough}).fewest;
  ASSERT_TRUE(fewest);
  EXPECT_EQ(fewest->choice, longer);
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
  const advice::FixContext situation = advice::situation_of(prepared->run);
  const advice::Space space = advice::open_choices(situation, {}, some);
  advice::Planner planner(prepared->basis, space);
  Choice smaller{}, shortest{};
  smaller[space.find("micro_batch")] = 1;
  shortest[space.find("length")] = 3;
  const double usable = planner.pricer().price(shortest)->sizes.enough;
  smaller[space.find("length")] = 3;
  ASSERT_GT(planner.pricer().price(smaller)->sizes.enough, usable);
  const advice::Plans plans = planner.plans({usable, Measure::enough});
  ASSERT_TRUE(plans.fewest);
  EXPECT_EQ(plans.fewest->choice, shortest);
}

// A default that follows the batch is locked, so no smaller batch can be had. That once hid every other plan.
TEST(Advice, AScaleThatALockHoldsHidesNoPlan) {
  const Json request = {
      {"model", "llama-3.2-1b"},
      {"training",
       {{"per_device_train_batch_size", 8}, {"max_length", 4096}, {"gradient_checkpointing", false}}},
      {"peft", {{"r", 8}}},
      {"rl", {{"num_iterations", 2}}},
      {"locks", {"rl"}}};
  const std::unique_ptr<Prepared> prepared = prepare(request);
  ASSERT_TRUE(prepared);
  std::vector<const advice::Fix*> some;
  for (const advice::Fix* fix : advice::fixes()) {
    if (fix->id == "micro_batch" || fix->slot == "checkpointing") some.push_back(fix);
  }
  const advice::FixContext situation = advice::situation_of(prepared->run);
  const advice::Space open = advice::open_choices(situation, prepared->basis.locks, some);
  ASSERT_LT(open.find("micro_batch"), open.slots.size());
  advice::Planner planner(prepared->basis, open);
  EXPECT_EQ(planner.space().find("micro_batch"), planner.space().slots.size());
  Choice checkpointing{};
  checkpointing[planner.space().find("checkpointing")] = 1;
  const double usable = planner.pricer().price(checkpointing)->sizes.enough;
  EXPECT_TRUE(planner.plans({usable, Measure::enough}).fewest);
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
  const advice::FixContext situation = advice::situation_of(prepared->run);
  const advice::Space space = advice::open_choices(situation, {}, some);
  ASSERT_EQ(space.slots.front().options.size(), 4U);  // as it is, 4, 2 and 1
  advice::Planner planner(prepared->basis, space);
  Choice two{}, one{};
  two[0] = 2;
  one[0] = 3;
  const double usable = planner.pricer().price(two)->sizes.enough;
  ASSERT_GT(planner.pricer().price(one)->sizes.enough, usable);
  const advice::Plans plans = planner.plans({usable, Measure::enough});
  ASSERT_TRUE(plans.fewest);
  EXPECT_EQ(plans.fewest->choice, two);
}

TEST(Advice, MostChoicesAreNeverPriced) {
  const std::unique_ptr<Prepared> prepared = prepare(request_of("a-before"));
  ASSERT_TRUE(prepared);
  const advice::FixContext situation = advice::situation_of(prepared->run);
  for (std::size_t count : {10u, 20u, 30u, 40u}) {
    const auto some = advice::fixes().first(std::min(count, advice::fixes().size()));
    const advice::Space space = advice::open_choices(situation, {}, some);
    double all = 1;
    for (const advice::Slot& slot : space.slots) all *= static_cast<double>(slot.options.size());
    advice::Planner planner(prepared->basis, space);
    for (std::size_t i = presets().tiers.size(); i-- > 0;) {
      planner.plans({static_cast<double>(presets().tiers[i].usable_bytes), Measure::enough});
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
