// Five write-ups of runs that died, each beside what its author did by hand. The table in docs/advice.md is
// made of these figures.
#include <algorithm>

#include "core/recipe/locks.h"
#include "core/report/advice.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

Json plan(const Json& advice, std::string_view reading) {
  for (const Json& one : advice.at("gpu").at("plans")) {
    for (const Json& name : one.at("readings")) {
      if (name == reading) return one;
    }
  }
  return nullptr;
}

std::vector<std::string> fixes(const Json& plan) {
  std::vector<std::string> names;
  for (const Json& change : plan.at("changes")) {
    const std::string name = change.at("fix");
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

// Every plan fits, keeps the effective batch, and touches nothing that is locked.
void expect_sound(const Json& request, const Json& advice) {
  ASSERT_FALSE(advice.at("gpu").at("plans").empty());
  for (const Json& one : advice.at("gpu").at("plans")) {
    EXPECT_EQ(one.at("verdict"), "fits");
    EXPECT_EQ(one.at("effective_batch").get<uint64_t>(), effective_batch(request));
    for (const Json& change : one.at("changes")) {
      const std::vector<std::string> locks = request.contains("locks")
                                                 ? request.at("locks").get<std::vector<std::string>>()
                                                 : std::vector<std::string>();
      EXPECT_FALSE(recipe::is_locked(change.at("pointer").get<std::string>(), locks));
    }
  }
}

Json stage(uint64_t batch, uint64_t accumulation, uint64_t rank) {
  Json request = request_of("a-before");
  request["training"]["per_device_train_batch_size"] = batch;
  request["training"]["gradient_accumulation_steps"] = accumulation;
  request["peft"]["r"] = rank;
  request["peft"]["lora_alpha"] = 2 * rank;
  return request;
}

TEST(Cases, AllFourFilesOfAKeepTheirEffectiveBatchAndNeedOneChangeNotFour) {
  // The author halved the batch, doubled the accumulation, halved the rank, cut the length and turned
  // checkpointing on. One of these is enough on 48 GB, and rank and length stay what they were.
  const struct {
    uint64_t batch, accumulation, rank, effective;
  } files[] = {{8, 8, 32, 64}, {4, 8, 32, 32}, {2, 8, 8, 16}, {8, 16, 32, 128}};
  for (const auto& file : files) {
    const Json request = stage(file.batch, file.accumulation, file.rank);
    const Json advice = advice_on(request);
    expect_sound(request, advice);
    EXPECT_EQ(effective_batch(request), file.effective);
    const Json fewest = plan(advice, "fewest");
    ASSERT_FALSE(fewest.is_null());
    EXPECT_EQ(fixes(fewest).size(), 1u);
    EXPECT_EQ(fewest.at("quality"), "none");
    EXPECT_FALSE(plan(advice, "same").is_null());
  }
}

// The table of a plan stands below what it needs before and after.
TEST(Cases, WhatAPlansChangesSaveIsAllThatItTakesOff) {
  for (const char* id : {"a-before", "b-before", "c-before", "d-before", "e-before"}) {
    const Json advice = advice_on(request_of(id));
    ASSERT_FALSE(advice.at("gpu").at("plans").empty()) << id;
    for (const Json& plan : advice.at("gpu").at("plans")) {
      double saved = 0;
      for (const Json& change : plan.at("changes")) saved += change.at("saves").get<double>();
      const double before = advice.at("peak").at("device").get<double>();
      EXPECT_NEAR(saved, before - plan.at("peak").at("device").get<double>(), 20) << id;
    }
  }
}

// The device figure of C ends where its card does; what another sample takes does not.
TEST(Cases, OneMoreSampleOfCCostsWhatItTakesOnALargerCard) {
  Json full = request_of("c-before");
  full["want"] = {"limits"};
  Json roomy = full;
  roomy["hardware"]["gpu"] = "a100-sxm-80";
  const auto cost = [](const Json& request) {
    return answer(request).at("limits").at("costs").at("one_more_sample").get<double>();
  };
  EXPECT_NEAR(cost(full), cost(roomy), 0.25 * cost(roomy));
}

TEST(Cases, BKeepsModelRankAndLengthWhereTheAuthorsCutWasNotEnough) {
  const Json request = request_of("b-before");
  const Json advice = advice_on(request);
  expect_sound(request, advice);
  const Json same = plan(advice, "same");
  ASSERT_FALSE(same.is_null());
  EXPECT_EQ(same.at("quality"), "none");
  for (const Json& change : same.at("changes")) EXPECT_NE(change.at("pointer"), "/training/max_length");
  // The author cut the length to 1,536 and still had nothing to spare.
  EXPECT_EQ(at(answer(request_of("b-after")), "/gpu/verdict"), "tight");
}

TEST(Cases, CNeedsAnotherOptimizerAndNothingElse) {
  const Json request = request_of("c-before");
  const Json advice = advice_on(request);
  expect_sound(request, advice);
  const Json fewest = plan(advice, "fewest");
  ASSERT_FALSE(fewest.is_null());
  ASSERT_EQ(fixes(fewest).size(), 1u);
  EXPECT_EQ(fewest.at("changes").at(0).at("pointer"), "/training/optim");
  bool named = false;
  for (const Json& habit : advice.at("habits")) named = named || habit.at("code") == "max_memory_as_a_limit";
  EXPECT_TRUE(named);
}

TEST(Cases, DFitsWithoutCuttingTheLengthInHalf) {
  const Json request = request_of("d-before");
  const Json advice = advice_on(request);
  expect_sound(request, advice);
  // 224 MiB is an fp32 matrix: weights in 16 bits are what the fastest plan begins with.
  const Json fastest = plan(advice, "fastest");
  ASSERT_FALSE(fastest.is_null());
  const std::vector<std::string> names = fixes(fastest);
  EXPECT_NE(std::find(names.begin(), names.end(), "sixteen_bit_load"), names.end());
  EXPECT_LT(fastest.at("time_factor").get<double>(), 1.0);
}

// TRL loads the base in fp32, and 16 bits of it are enough: no smaller batch and no kernel beside that.
TEST(Cases, OneChangeThatCostsNothingComesBeforeSeveral) {
  const Json advice =
      advice_on({{"model", "qwen2.5-7b"},
                 {"stack", "trl"},
                 {"peft", {{"r", 16}, {"target_modules", "all-linear"}}},
                 {"training", {{"per_device_train_batch_size", 4}, {"max_length", 4096}, {"bf16", true}}},
                 {"hardware", {{"gpu", "a100-sxm-40"}}}});
  EXPECT_EQ(fixes(advice.at("gpu").at("plans").at(0)), std::vector<std::string>{"sixteen_bit_load"});
}

TEST(Cases, EFindsTheAuthorsOwnMeasures) {
  const Json request = request_of("e-before");
  const Json advice = advice_on(request);
  expect_sound(request, advice);
  std::vector<std::string> names = fixes(plan(advice, "fewest"));
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"gradient_checkpointing", "nf4"}));
}

TEST(Cases, WhereNothingFitsTheAnswerSaysWhatStandsInTheWay) {
  Json request = request_of("b-before");
  request["hardware"]["gpu"] = "rtx-4060";
  request["locks"] = {"model", "peft", "quantization"};
  const Json advice = advice_on(request);
  const Json& blocked = advice.at("gpu").at("blocked");
  ASSERT_TRUE(blocked.is_object());
  EXPECT_EQ(blocked.at("component"), "weights");
  EXPECT_GT(blocked.at("least").get<uint64_t>(), advice.at("gpu").at("usable").get<uint64_t>());
  EXPECT_FALSE(blocked.at("smallest_tier").is_null());
}

TEST(Cases, RoomToSpareIsOfferedWhereItFits) {
  Json request = request_of("a-after");
  const Json advice = advice_on(request);
  EXPECT_EQ(advice.at("gpu").at("verdict"), "fits");
  EXPECT_TRUE(advice.at("gpu").at("plans").empty());
  ASSERT_FALSE(advice.at("gpu").at("spend").empty());
  for (const Json& offer : advice.at("gpu").at("spend")) {
    EXPECT_LE(offer.at("peak").at("high"), advice.at("gpu").at("usable"));
  }
}

TEST(Cases, WhatTheRunHasAlreadyIsNotOffered) {
  Json request = request_of("a-after");
  request["peft"]["target_modules"] = {"q_proj",    "k_proj",  "v_proj",   "o_proj",
                                       "gate_proj", "up_proj", "down_proj"};
  const Json advice = advice_on(request);
  for (const Json& offer : advice.at("gpu").at("spend")) EXPECT_NE(offer.at("fix"), "all_linear");
}

TEST(Cases, LimitsAreTheLastThatFit) {
  Json request = request_of("a-after");
  const Json limits = advice_on(request).at("limits");
  for (const char* field : {"per_device_train_batch_size", "max_length"}) {
    const auto most = limits.at(field).get<uint64_t>();
    Json changed = request;
    changed["training"][field] = most;
    EXPECT_EQ(at(answer(changed), "/gpu/verdict"), "fits") << field;
    changed["training"][field] = most + 16;
    EXPECT_NE(at(answer(changed), "/gpu/verdict"), "fits") << field;
  }
}

// GPT-2 looks its positions up in a table of 1,024 rows: IndexError, or an assertion on the device, beyond.
TEST(Cases, NoLimitGoesBeyondATableOfLearnedPositions) {
  const std::pair<const char*, uint64_t> published[] = {{"gpt2", 1024},
                                                        {"opt-1.3b", 2048},
                                                        {"whisper-small", 448},
                                                        {"bert-base-uncased", 512},
                                                        {"roberta-base", 512}};
  for (const auto& [model, positions] : published) {
    const Json advice = advice_on({{"model", model}, {"hardware", {{"gpu", "h100-sxm"}}}});
    const Json& limits = advice.at("limits");
    EXPECT_EQ(limits.at("max_length").get<uint64_t>(), positions) << model;
    EXPECT_LE(limits.at("map").at("max_length").back().get<uint64_t>(), positions) << model;
    for (const Json& offer : advice.at("gpu").at("spend"))
      EXPECT_LE(offer.at("changes").value("/training/max_length", uint64_t{0}), positions) << model;
  }
}

}  // namespace
}  // namespace plimsoll::report
