// Plans: exact against exhaustive search, enough and no more on random requests, and beside what five people
// worked out by hand.
#include "core/report/advice.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "core/report/compare.h"
#include "tests/core/dice.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

using advice::Choice;
using advice::Measure;
using advice::Target;

// More with ADVICE_REQUESTS=2000; the usual number keeps the suite quick.
uint64_t requests(uint64_t usual) {
  const char* asked = std::getenv("ADVICE_REQUESTS");
  return asked == nullptr ? usual : std::strtoull(asked, nullptr, 10);
}

Json read(const std::string& text) {
  json::Errors errors;
  return json::parse(text, errors).value_or(Json::object());
}

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

const std::vector<std::string> few_models = {
    "llama-3.2-1b", "qwen2.5-7b",      "mistral-7b-v0.3",        "gemma-2-2b", "smollm2-360m",  "phi-2",
    "qwen3-8b",     "llava-1.5-7b-hf", "qwen2.5-vl-3b-instruct", "gpt2",       "llama-2-13b-hf"};
const std::vector<std::string> few_optimizers = {"adamw_torch",      "adamw_torch", "adamw_torch_fused",
                                                 "paged_adamw_8bit", "adafactor",   "adamw_bnb_8bit"};

Json drawn(uint64_t seed) {
  Dice dice(seed);
  Json request = {{"model", dice.one_of(few_models)}};
  if (dice.one_in(4)) request["stack"] = "trl";
  Json training = {{"per_device_train_batch_size", 1 + dice.draw(8)},
                   {"gradient_accumulation_steps", 1 + dice.draw(8)},
                   {"max_length", 256 * (1 + dice.draw(12))},
                   {"gradient_checkpointing", dice.one_in(2)},
                   {"optim", dice.one_of(few_optimizers)}};
  if (!dice.one_in(4)) training["bf16"] = true;
  request["training"] = training;
  if (!dice.one_in(4)) {
    Json peft = {{"r", 4 << dice.draw(6)}, {"lora_alpha", 16}};
    peft["target_modules"] = dice.one_in(2) ? Json("all-linear") : Json::array({"q_proj", "v_proj"});
    if (dice.one_in(3)) peft["lora_dropout"] = 0.05;
    request["peft"] = peft;
    if (dice.one_in(3)) request["quantization"] = {{"load_in_4bit", true}};
  }
  Json args = {{"dtype", dice.one_in(3) ? "float32" : "bfloat16"}};
  if (dice.one_in(3)) args["attn_implementation"] = "eager";
  request["model_args"] = args;
  const std::vector<std::string> lockable = {"peft.r",
                                             "training.max_length",
                                             "training.optim",
                                             "training.per_device_train_batch_size",
                                             "quantization",
                                             "model_args.dtype",
                                             "peft"};
  Json locks = Json::array();
  for (uint64_t i = dice.draw(3); i > 0; --i) locks.push_back(dice.one_of(lockable));
  request["locks"] = locks;
  return request;
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
  int compared = 0, plans = 0;
  for (uint64_t seed = 1; seed <= requests(100); ++seed) {
    const std::unique_ptr<Prepared> prepared = prepare(drawn(seed));
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
  EXPECT_GT(compared, 20);
  EXPECT_GT(plans, 20);
}

TEST(Advice, ScalesTakeLessAtEveryStep) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const std::unique_ptr<Prepared> prepared = prepare(drawn(seed));
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
        if (price == nullptr || (option == 0 && space.slots[slot].options[1].level.may_rise)) continue;
        EXPECT_LE(price->sizes.high, before) << seed << " " << space.slots[slot].name << " " << option;
        before = price->sizes.high;
      }
    }
  }
}

// Optimizers and allocator settings are added to a replay, scales are set without their defaults being
// resolved again: both must give what a full replay of the changed request gives, on one GPU and on several.
TEST(Advice, APriceIsThatOfAFullReplay) {
  int compared = 0;
  for (uint64_t seed = 1; seed <= requests(120); ++seed) {
    Json request = drawn(seed);
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
      const advice::Changed full = advice::change(prepared->basis, advice::changes_of(space, choice));
      ASSERT_TRUE(full.valid) << seed;
      EXPECT_NEAR(price->sizes.high, full.price.sizes.high, 1) << seed << json::write(request);
      EXPECT_NEAR(pricer.seconds(choice), full.price.seconds, 1e-9 * full.price.seconds) << seed;
      ++compared;
    }
  }
  EXPECT_GT(compared, 200);
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

// Int8 makes this run larger, and a change that only means something on a quantised base takes that back: a
// plan of both is no plan.
TEST(Advice, AChangeIsNotThereForTheSakeOfAnotherThatSavesNothing) {
  Json request = {{"model", "smollm2-360m"},
                  {"training",
                   {{"per_device_train_batch_size", 4},
                    {"gradient_accumulation_steps", 2},
                    {"max_length", 2816},
                    {"gradient_checkpointing", false},
                    {"optim", "paged_adamw_8bit"}}},
                  {"peft", {{"r", 64}, {"target_modules", {"q_proj", "v_proj"}}, {"lora_dropout", 0.05}}},
                  {"model_args", {{"dtype", "float32"}, {"attn_implementation", "eager"}}},
                  {"hardware", {{"gpu", "rtx-a6000"}}},
                  {"locks", {"training.max_length"}}};
  json::Errors errors;
  const auto run = read_run(json::write(request), presets(), errors);
  ASSERT_TRUE(run);
  Advisor advisor(*run, presets());
  json::Writer out;
  advisor.write_plans(out, usable_for(*run, run->gpu->usable_bytes));
  const Json plans = read(out.take());
  ASSERT_FALSE(plans.empty());
  for (const Json& plan : plans) {
    for (const Json& change : plan.at("changes")) {
      EXPECT_NE(change.at("fix"), "int8");
      EXPECT_NE(change.at("fix"), "no_kbit_upcast");
    }
  }
}

// The request with a plan's changes made, as a person would make them.
Json applied(Json request, const Json& changes) {
  for (const Json& change : changes) {
    request[Json::json_pointer(change.at("pointer").get<std::string>())] = change.at("to");
  }
  return request;
}

TEST(Advice, EveryPlanFitsKeepsBatchAndLocksAndHasNothingToSpare) {
  int checked = 0;
  for (uint64_t seed = 5001; seed <= 5000 + requests(60); ++seed) {
    Json request = drawn(seed);
    Dice dice(seed);
    const std::vector<std::string> gpus = {"rtx-4060", "rtx-3060-12", "t4", "a10g", "rtx-a6000"};
    request["hardware"] = {{"gpu", dice.one_of(gpus)}};
    json::Errors errors;
    const auto run = read_run(json::write(request), presets(), errors);
    if (!run) continue;
    const double usable = usable_for(*run, run->gpu->usable_bytes);
    Advisor advisor(*run, presets());
    json::Writer out;
    advisor.write_plans(out, usable);
    for (const Json& plan : read(out.take())) {
      const Json& changes = plan.at("changes");
      const Json changed = applied(request, changes);
      const Json report = answer(changed);
      ASSERT_TRUE(at(report, "/ok").get<bool>()) << json::write(changed) << json::write(report.at("errors"));
      EXPECT_EQ(bytes(report, "/memory/peak/high"), plan.at("peak").at("high").get<uint64_t>()) << seed;
      EXPECT_EQ(at(report, "/gpu/verdict"), plan.at("verdict")) << seed;
      EXPECT_NE(plan.at("verdict"), "no") << seed;
      EXPECT_EQ(effective_batch(changed), effective_batch(request)) << seed;
      std::set<std::string> fixes;
      for (const Json& change : changes) {
        EXPECT_FALSE(advice::is_locked(change.at("pointer").get<std::string>(), run->resolved.recipe.locks));
        fixes.insert(change.at("fix").get<std::string>());
      }
      for (const std::string& fix : fixes) {
        Json without = Json::array();
        bool rest_needs_it = false;
        for (const Json& change : changes) {
          if (change.at("fix") == fix) continue;
          without.push_back(change);
          // A field of /peft alone would bring adapters back.
          const bool of_adapters = change.at("pointer").get<std::string>().rfind("/peft/", 0) == 0;
          rest_needs_it = rest_needs_it || (fix == "adapters_instead_of_full" && of_adapters);
        }
        if (rest_needs_it) continue;
        const Json less = answer(applied(request, without));
        if (!at(less, "/ok").get<bool>()) continue;  // the rest needs it
        EXPECT_NE(at(less, "/gpu/verdict"), plan.at("verdict")) << seed << " does not need " << fix;
      }
      ++checked;
    }
  }
  RecordProperty("checked", checked);
  EXPECT_GT(checked, 40);
}

// Each plan of `request` for its card, against the full report of the changed request.
void expect_as_reported(const Json& request) {
  json::Errors errors;
  const auto run = read_run(json::write(request), presets(), errors);
  ASSERT_TRUE(run) << json::write(request);
  Advisor advisor(*run, presets());
  json::Writer out;
  advisor.write_plans(out, usable_for(*run, run->gpu->usable_bytes));
  for (const Json& plan : read(out.take())) {
    const Json report = answer(applied(request, plan.at("changes")));
    EXPECT_EQ(at(report, "/gpu/verdict"), plan.at("verdict")) << json::write(plan.at("changes"));
    EXPECT_EQ(bytes(report, "/memory/peak/high"), plan.at("peak").at("high").get<uint64_t>());
  }
}

TEST(Advice, WhatAPlanCallsFittingTheSimulatedAllocatorCallsFittingToo) {
  for (const char* id : {"a-before", "b-before", "c-before", "d-before", "e-before"}) {
    Json request = request_of(id);
    request["want"] = {"allocator"};
    expect_as_reported(request);
  }
}

TEST(Advice, PlansOfRandomRequestsHoldUnderTheSimulatedAllocatorToo) {
  int checked = 0;
  for (uint64_t seed = 9001; seed <= 9000 + requests(12); ++seed) {
    Json request = drawn(seed);
    Dice dice(seed);
    const std::vector<std::string> gpus = {"rtx-4060", "rtx-3060-12", "t4", "a10g", "rtx-a6000"};
    request["hardware"] = {{"gpu", dice.one_of(gpus)}};
    request["want"] = {"allocator"};
    json::Errors errors;
    if (!read_run(json::write(request), presets(), errors)) continue;
    expect_as_reported(request);
    ++checked;
  }
  EXPECT_GT(checked, 5);
}

Json ways_out(const Json& request) {
  json::Errors errors;
  const auto run = read_run(json::write(request), presets(), errors);
  EXPECT_TRUE(run) << json::write(request);
  Advisor advisor(*run, presets());
  json::Writer out;
  advisor.write_elsewhere(out, usable_for(*run, run->gpu->usable_bytes));
  return read(out.take());
}
const Json* way(const Json& ways, std::string_view id) {
  for (const Json& one : ways) {
    if (one.at("id") == id) return &one;
  }
  return nullptr;
}

// 64 samples of 420 tokens fill 13 rows of 2,048: 13 is prime, so one row at a time, thirteen times.
TEST(Advice, ShortSamplesInFewerRowsAreAWayOutThatKeepsTheSamplesOfAStep) {
  Json request = request_of("a-before");
  request["data"] = {{"samples", 50000}, {"epochs", 1}, {"mean_length", 420}};
  request["training"]["max_length"] = 2048;
  request["training"]["per_device_train_batch_size"] = 8;
  request["training"]["gradient_accumulation_steps"] = 8;
  request["training"]["gradient_checkpointing"] = true;
  request["hardware"] = {{"gpu", "rtx-3060-12"}};
  const Json ways = ways_out(request);
  const Json* packing = way(ways, "packing");
  ASSERT_NE(packing, nullptr) << json::write(ways);
  const Json& changes = packing->at("changes");
  EXPECT_EQ(changes.at("/training/packing"), true);
  EXPECT_EQ(changes.at("/training/per_device_train_batch_size"), 1);
  EXPECT_EQ(changes.at("/training/gradient_accumulation_steps"), 13);
  EXPECT_NEAR(packing->at("samples_per_step").get<double>(), 64, 1);
  Json changed = request;
  for (const auto& [pointer, value] : changes.items()) changed[Json::json_pointer(pointer)] = value;
  const Json report = answer(changed);
  EXPECT_EQ(at(report, "/gpu/verdict"), "fits");
  EXPECT_EQ(bytes(report, "/memory/peak/high"), packing->at("high").get<uint64_t>());
  request["locks"] = {"training.packing"};
  EXPECT_EQ(way(ways_out(request), "packing"), nullptr);
  request["locks"] = Json::array();
  request["data"]["mean_length"] = 2000;
  EXPECT_EQ(way(ways_out(request), "packing"), nullptr);
}

TEST(Advice, ARentedMachineIsNoNotebook) {
  int named = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Json request = drawn(seed);
    request["hardware"] = {{"gpu", "rtx-3060-12"}};
    request["locks"] = Json::array();
    json::Errors errors;
    if (!read_run(json::write(request), presets(), errors)) continue;
    const Json ways = ways_out(request);
    const Json* rented = way(ways, "rented_machine");
    if (rented == nullptr) continue;
    EXPECT_NE(rented->at("provider"), "colab");
    EXPECT_NE(rented->at("provider"), "kaggle");
    ++named;
  }
  EXPECT_GT(named, 5);
}

TEST(Advice, PlansForOldLibrariesHaveTheWiderBandOfTheirReports) {
  Json request = request_of("a-before");
  request["versions"]["transformers"] = "4.30";
  EXPECT_GT(bytes(answer(request), "/memory/peak/high"),
            bytes(answer(request_of("a-before")), "/memory/peak/high"));
  expect_as_reported(request);
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

// The shares of a comparison add up to the whole.
TEST(Advice, SharesOfAComparisonAddUp) {
  Json before, after;
  for (const Json& scenario : presets().scenarios) {
    if (scenario.at("id") == "b-before") before = scenario.at("request");
    if (scenario.at("id") == "c-before") after = scenario.at("request");
  }
  const Json comparison = read(compare_text(json::write(before), json::write(after), presets()));
  double sum = 0;
  for (const Json& row : comparison.at("differences")) sum += row.at("device").get<double>();
  const double whole =
      comparison.at("b").at("device").get<double>() - comparison.at("a").at("device").get<double>();
  EXPECT_NEAR(sum, whole, 16);
  EXPECT_GE(comparison.at("differences").size(), 2u);
}

}  // namespace
}  // namespace plimsoll::report
