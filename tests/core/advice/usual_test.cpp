// What somebody who trains every week changes first, and that the plan shown first says so.
#include "core/advice/usual.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/report/advice.h"
#include "tests/core/golden.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

using Names = std::set<std::string>;

Names fixes_in(const Json& plan) {
  Names names;
  for (const Json& change : plan.at("changes")) names.insert(change.at("fix").get<std::string>());
  return names;
}

bool any_of(const Json& list, const Names& names) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Json& one) { return names.count(one.get<std::string>()) != 0; });
}

// The plan that is shown first has what comes first, and nothing that comes late.
bool is_right(const Json& one, const Json& late) {
  Json request = one.at("request");
  request["want"] = {"gpu_only"};
  const Json plans = advice_on(request).at("gpu").at("plans");
  if (plans.empty()) return false;
  const Names first = fixes_in(plans[0]);
  for (const Json& group : one.at("first")) {
    if (!any_of(group, first)) return false;
  }
  if (one.contains("never") && any_of(one.at("never"), first)) return false;
  const bool excused = one.contains("may") && any_of(one.at("may"), first);
  return excused || !any_of(late, first);
}

int right_in(const char* file, bool named) {
  json::Errors errors;
  const Json golden = json::parse(golden_file(file), errors).value_or(Json::object());
  int right = 0;
  for (const Json& one : golden.at("cases")) {
    const bool is = is_right(one, golden.at("late"));
    if (named) {
      EXPECT_TRUE(is) << one.at("name");
    }
    right += is;
  }
  return right;
}

TEST(UsualPlan, WhatIsTriedFirstLeadsForEverydayRuns) {
  EXPECT_EQ(right_in("conventional_plans.json", true), 14);
}

// One of them fits as it is, which who wrote it down did not know.
TEST(UsualPlan, AndForRunsThatWereNotLookedAt) {
  EXPECT_GE(right_in("conventional_plans_held.json", false), 12);
}

TEST(UsualPlan, EveryFixHasItsPlaceInTheOrderOnce) {
  std::map<std::string_view, int> places;
  for (const advice::Fix* fix : advice::usual_order()) ++places[fix->id];
  for (const advice::Fix* fix : advice::fixes()) EXPECT_EQ(places[fix->id], 1) << fix->id;
  EXPECT_EQ(places.size(), advice::fixes().size());
}

Json qlora_at_4k() {
  return {{"model", "llama-3.1-8b"},
          {"quantization", {{"load_in_4bit", true}}},
          {"peft", {{"r", 16}}},
          {"training",
           {{"per_device_train_batch_size", 4},
            {"gradient_accumulation_steps", 4},
            {"max_length", 4096},
            {"gradient_checkpointing", false}}},
          {"hardware", {{"gpu", "rtx-4090"}}}};
}

TEST(UsualPlan, AnEightBillionQLoraAt4096TokensIsCheckpointedAndAccumulated) {
  const Json plan = advice_on(qlora_at_4k()).at("gpu").at("plans")[0];
  EXPECT_EQ(fixes_in(plan), (Names{"gradient_checkpointing", "micro_batch"}));
  EXPECT_EQ(plan.at("quality"), "none");
  EXPECT_EQ(plan.at("effective_batch"), 16);
}

TEST(UsualPlan, APlanThatIsNoticedInWhatIsLearnedNeverComesBeforeOneThatIsNot) {
  for (const char* id : {"a-before", "b-before", "c-before", "d-before", "e-before"}) {
    const Json advice = advice_on(request_of(id));
    for (const Json& tier : advice.at("tiers")) {
      bool noticed = false;
      for (const Json& plan : tier.at("plans")) {
        const bool this_one = plan.at("quality") == "small" || plan.at("quality") == "visible";
        EXPECT_FALSE(noticed && !this_one) << id << " " << tier.at("gib");
        noticed = this_one;
      }
    }
  }
}

Json of_70b_on_two_cards() {
  Json request = qlora_at_4k();
  request["model"] = "llama-3.1-70b";
  request["training"]["max_length"] = 2048;
  request["training"]["per_device_train_batch_size"] = 1;
  request["training"]["bf16"] = true;
  request["hardware"]["gpu"] = "rtx-3090";
  request["parallel"] = {{"num_gpus", 2}};
  return request;
}

// PEFT's documentation, "Use PEFT QLoRA and FSDP for finetuning large models on multiple GPUs": 70B on two of
// 24 GB.
TEST(UsualPlan, SeventyBillionInFourBitsGoOntoTwoCardsOf24GBByFsdpAndOffload) {
  const Json plan = advice_on(of_70b_on_two_cards()).at("gpu").at("plans")[0];
  EXPECT_EQ(fixes_in(plan).count("sharded_in_host_memory"), 1U);
  EXPECT_TRUE(plan.at("quality") == "none" || plan.at("quality") == "parity") << plan.at("quality");
}

TEST(UsualPlan, OneThatTakesSeveralTimesAsLongAsAnotherComesAfterIt) {
  Json request = of_70b_on_two_cards();
  request["model"] = "meta-llama/Llama-2-13b-hf";
  request["peft"] = nullptr;
  request["quantization"] = nullptr;
  request["hardware"]["gpu"] = "h100-sxm";
  request["parallel"] = {{"num_gpus", 1}};
  const Json plans = advice_on(request).at("gpu").at("plans");
  ASSERT_GE(plans.size(), 2U);
  double fastest = 1e9;
  for (const Json& plan : plans) fastest = std::min(fastest, plan.at("time_factor").get<double>());
  EXPECT_LE(plans[0].at("time_factor").get<double>(), 3.01 * fastest);
  EXPECT_EQ(fixes_in(plans[0]).count("paged_optimizer"), 0U);
}

TEST(UsualPlan, ARunThatOnlyTheBandContradictsIsTriedBeforeSamplesAreCut) {
  Json request = qlora_at_4k();
  request["stack"] = "unsloth";
  request["training"]["per_device_train_batch_size"] = 16;
  request["training"]["gradient_accumulation_steps"] = 1;
  request["training"]["gradient_checkpointing"] = true;
  request["hardware"]["gpu"] = "rtx-4070";
  request["quantization"]["prepare_for_kbit_training"] = true;
  const Json plans = advice_on(request).at("gpu").at("plans");
  ASSERT_FALSE(plans.empty());
  EXPECT_EQ(plans[0].at("quality"), "none");
}

Json grpo(double share) {
  Json request = qlora_at_4k();
  request.erase("quantization");
  request["task"] = "grpo";
  request["stack"] = "trl";
  request["training"] = {{"per_device_train_batch_size", 8},
                         {"gradient_accumulation_steps", 4},
                         {"max_length", 1024},
                         {"gradient_checkpointing", true},
                         {"bf16", true}};
  request["rl"] = {{"num_generations", 8},
                   {"max_completion_length", 512},
                   {"use_vllm", true},
                   {"vllm_mode", "colocate"},
                   {"vllm_gpu_memory_utilization", share}};
  request["hardware"]["gpu"] = "h100-sxm";
  return request;
}

TEST(UsualPlan, VllmsShareItsSleepAndTheLengthOfCompletionsAreFixes) {
  Names offered;
  double least_share = 1;
  const Json advice = advice_on(grpo(0.7));
  for (const Json& fix : advice.at("fixes")) {
    offered.insert(fix.at("fix").get<std::string>());
    if (fix.at("fix") != "vllm_memory_share") continue;
    least_share =
        std::min(least_share, fix.at("changes").at("/rl/vllm_gpu_memory_utilization").get<double>());
    EXPECT_GT(fix.at("saves").get<int64_t>(), 0);
  }
  EXPECT_EQ(offered.count("vllm_sleep_mode"), 1u);
  EXPECT_EQ(offered.count("shorter_completions"), 1u);
  EXPECT_EQ(offered.count("vllm_memory_share"), 1u);
  // vLLM would not start with less than its 16 GB of weights.
  EXPECT_GE(least_share * 79, 16);
  Json elsewhere = grpo(0.7);
  elsewhere["rl"]["vllm_mode"] = "server";
  const Json on_other_cards = advice_on(elsewhere);
  for (const Json& fix : on_other_cards.at("fixes")) {
    EXPECT_NE(fix.at("fix"), "vllm_sleep_mode");
    EXPECT_NE(fix.at("fix"), "vllm_memory_share");
  }
}

TEST(Ladder, EachStepSaysWhatItDoesAndWhatAllDoTogether) {
  const Json gpu = advice_on(qlora_at_4k()).at("gpu");
  const Json& ladder = gpu.at("ladder");
  ASSERT_GE(ladder.size(), 2u);
  for (std::size_t i = 1; i < ladder.size(); ++i) {
    const Json &before = ladder[i - 1], &now = ladder[i];
    EXPECT_EQ(now.at("so_far").at("saves").get<int64_t>() - before.at("so_far").at("saves").get<int64_t>(),
              now.at("step").at("saves").get<int64_t>());
    EXPECT_NEAR(
        before.at("so_far").at("time_factor").get<double>() * now.at("step").at("time_factor").get<double>(),
        now.at("so_far").at("time_factor").get<double>(), 0.005);
  }
}

}  // namespace
}  // namespace plimsoll::report
