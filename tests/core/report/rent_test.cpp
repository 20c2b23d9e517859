// Which machine to rent, and what several cards cost and are worth.
#include "core/report/advice.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

Json full_8b() {
  return {{"model", "qwen3-8b"},
          {"model_args", {{"dtype", "bfloat16"}}},
          {"training",
           {{"per_device_train_batch_size", 1},
            {"gradient_accumulation_steps", 16},
            {"max_length", 2048},
            {"gradient_checkpointing", true},
            {"bf16", true}}},
          {"hardware", {{"gpu", "rtx-4090"}}},
          {"data", {{"samples", 20000}, {"epochs", 1}}},
          {"want", {"rent"}}};
}

double number(const Json& row, const char* key) { return row.at(key).get<double>(); }

TEST(Rent, ACheapestACheapestAsItIsAndAFastestAreNamed) {
  const Json rent = advice_on(full_8b()).at("rent");
  const Json &cheapest = rent.at("cheapest"), &unchanged = rent.at("unchanged"),
             &fastest = rent.at("fastest");
  ASSERT_TRUE(cheapest.is_object() && unchanged.is_object() && fastest.is_object());
  EXPECT_EQ(unchanged.at("fix"), "");
  EXPECT_LE(number(cheapest, "usd"), number(unchanged, "usd"));
  EXPECT_LE(number(fastest, "seconds_per_step"), number(unchanged, "seconds_per_step"));
  for (const Json& row : rent.at("machines")) {
    EXPECT_GE(number(row, "seconds_per_step"), number(fastest, "seconds_per_step"));
    if (row.at("date") == "undated") continue;
    EXPECT_LE(number(cheapest, "usd"), number(row, "usd"));
  }
}

// Lambda's and RunPod's prices have no date: they may be of any year.
TEST(Rent, APriceWithoutADateLeadsNothingAndIsNotHidden) {
  const Json rent = advice_on(full_8b()).at("rent");
  for (const char* lead : {"cheapest", "unchanged"}) EXPECT_NE(rent.at(lead).at("date"), "undated") << lead;
  const Json& undated = rent.at("undated");
  ASSERT_TRUE(undated.is_object());
  EXPECT_EQ(undated.at("date"), "undated");
  EXPECT_LT(number(undated, "usd"), number(rent.at("cheapest"), "usd"));
  for (const Json& row : rent.at("machines")) EXPECT_LE(number(undated, "usd"), number(row, "usd"));
}

// "25.46 USD for the cheapest that works, 9.23 USD for the cheapest without a change": the second had no date.
TEST(Rent, AMachineWithoutADateIsNotTheCheapestForARunAsItIs) {
  Json request = request_of("a-before");
  request["want"] = {"rent"};
  const Json rent = advice_on(request).at("rent");
  EXPECT_NE(rent.at("cheapest").at("date"), "undated");
  EXPECT_TRUE(rent.at("unchanged").is_null());
}

// Every row, made as it says, is a run that fits on that card and keeps the samples of a step.
TEST(Rent, WhatIsSaidToFitFitsInAFullReport) {
  const Json request = full_8b();
  const Json rent = advice_on(request).at("rent");
  ASSERT_GE(rent.at("machines").size(), 5u);
  for (const Json& row : rent.at("machines")) {
    Json there = request;
    for (const auto& [pointer, value] : row.at("changes").items()) there[Json::json_pointer(pointer)] = value;
    there["hardware"]["gpu"] = row.at("gpu");
    const Json report = answer(there);
    EXPECT_EQ(at(report, "/gpu/verdict"), "fits") << row;
    EXPECT_EQ(bytes(report, "/memory/peak/high"), row.at("high").get<uint64_t>()) << row;
    EXPECT_EQ(at(report, "/time/tokens_per_step"), 16 * 2048) << row;
    EXPECT_NEAR(at(report, "/time/seconds_per_step").get<double>(), number(row, "seconds_per_step"),
                0.02 * number(row, "seconds_per_step"))
        << row;
  }
}

TEST(Rent, SeveralCardsRunAtTheirSpeedLessWhatTheyLoseToOneAnother) {
  const Json rent = advice_on(full_8b()).at("rent");
  for (const Json& row : rent.at("machines")) {
    if (row.at("gpus") == 1) {
      EXPECT_EQ(number(row, "efficiency"), 1);
    } else {
      EXPECT_LT(number(row, "efficiency"), 1) << row;
      EXPECT_GT(number(row, "efficiency"), 0.2) << row;
    }
  }
}

TEST(Rent, ANotebookServiceLeadsNothingAndSaysWhenItsSessionsEnd) {
  Json request = full_8b();
  request["peft"] = {{"r", 16}};
  request["quantization"] = {{"load_in_4bit", true}};
  request["model"] = "qwen2.5-7b";
  request["hardware"]["gpu"] = "rtx-3060-12";
  request["training"]["max_length"] = 1024;
  const Json rent = advice_on(request).at("rent");
  ASSERT_FALSE(rent.at("notebooks").empty());
  for (const Json& row : rent.at("notebooks")) {
    EXPECT_EQ(row.at("session_hours"), 12);
    EXPECT_GE(number(row, "sessions"), 1);
  }
  for (const Json& row : rent.at("machines")) EXPECT_FALSE(row.contains("session_hours"));
  for (const char* lead : {"cheapest", "unchanged", "fastest"}) {
    EXPECT_FALSE(rent.at(lead).contains("session_hours")) << lead;
  }
  request["want"] = {"machines"};
  bool notebook = false;
  const Json machines = at(answer(request), "/time/machines");
  for (const Json& machine : machines) {
    EXPECT_FALSE(notebook && !machine.contains("session_hours"));
    notebook = machine.contains("session_hours");
  }
  EXPECT_TRUE(notebook);
}

TEST(Rent, AMachineOfEightCardsIsNotTimedAsOne) {
  Json request = full_8b();
  request["model"] = "qwen2.5-1.5b";
  request["want"] = {"machines"};
  double one = 0, eight = 0;
  const Json machines = at(answer(request), "/time/machines");
  for (const Json& machine : machines) {
    if (machine.at("instance") == "gpu_1x_h100_sxm5") one = number(machine, "seconds_per_step");
    if (machine.at("instance") == "gpu_8x_h100_sxm5") eight = number(machine, "seconds_per_step");
  }
  ASSERT_GT(one, 0);
  ASSERT_GT(eight, 0);
  EXPECT_LT(eight, one / 3);
  EXPECT_GT(eight, one / 8);
}

const Json* more_gpus(const Json& advice) {
  for (const Json& way : advice.at("gpu").at("elsewhere")) {
    if (way.at("id") == "more_gpus") return &way;
  }
  return nullptr;
}

// An owner of two cards is told of more of them, and never of more than it takes.
TEST(Rent, AsManyCardsAsItTakesAndNoMore) {
  Json request = full_8b();
  request["hardware"]["gpu"] = "h100-sxm";
  request["model_args"]["dtype"] = "float32";
  const Json advice = advice_on(request);
  const Json* more = more_gpus(advice);
  ASSERT_NE(more, nullptr);
  const uint64_t count = more->at("gpus").get<uint64_t>();
  for (uint64_t fewer = 2; fewer < count; fewer *= 2) {
    for (const char* strategy : {"ddp", "zero2", "zero3"}) {
      Json there = request;
      there["parallel"] = {{"num_gpus", fewer}, {"strategy", strategy}};
      there["training"]["gradient_accumulation_steps"] = 16 / fewer;
      EXPECT_NE(at(answer(there), "/gpu/verdict"), "fits") << fewer << strategy;
    }
  }
  request["parallel"] = {{"num_gpus", 2}, {"strategy", "ddp"}};
  request["training"]["gradient_accumulation_steps"] = 8;
  const Json two = advice_on(request);
  const Json* from_two = more_gpus(two);
  ASSERT_NE(from_two, nullptr);
  EXPECT_GT(from_two->at("gpus").get<uint64_t>(), 2u);
  EXPECT_EQ(from_two->at("effective_batch"), 16);
}

// A context that the request states stays on more cards, and on others.
TEST(Rent, WhatIsStatedOfTheContextIsCountedOnOtherMachinesToo) {
  Json request = full_8b();
  request["hardware"] = {{"gpu", "h100-sxm"}, {"context_gib", 6}};
  request["model_args"]["dtype"] = "float32";
  const Json advice = advice_on(request);
  const auto high_of = [&](const Json& row) {
    Json there = request;
    for (const auto& [pointer, value] : row.at("changes").items()) there[Json::json_pointer(pointer)] = value;
    there["hardware"]["gpu"] = row.at("gpu");
    return at(answer(there), "/memory/peak/high").get<double>();
  };
  const Json* more = more_gpus(advice);
  ASSERT_NE(more, nullptr);
  EXPECT_EQ(number(*more, "high"), high_of(*more));
  const Json& machines = advice.at("rent").at("machines");
  ASSERT_FALSE(machines.empty());
  for (const Json& row : machines) EXPECT_EQ(number(row, "high"), high_of(row)) << row.at("instance");
}

double seconds(const Json& request) { return at(answer(request), "/time/seconds_per_step").get<double>(); }

TEST(Rent, ParametersInHostMemoryCostTheirWayOverPcie) {
  Json request = full_8b();
  request["parallel"] = {{"num_gpus", 2}, {"strategy", "fsdp"}};
  for (const char* gpu : {"a100-sxm-80", "rtx-3090"}) {
    request["hardware"]["gpu"] = gpu;
    Json offloaded = request;
    offloaded["parallel"]["fsdp_config"] = {{"offload_params", true}};
    EXPECT_GT(seconds(offloaded), 1.1 * seconds(request)) << gpu;
    Json zero = request, zero_offloaded;
    zero["parallel"] = {{"num_gpus", 2}, {"strategy", "zero2"}};
    zero_offloaded = zero;
    zero_offloaded["parallel"]["zero_optimization"] = {{"offload_optimizer", {{"device", "cpu"}}}};
    EXPECT_GT(seconds(zero_offloaded), 1.05 * seconds(zero)) << gpu;
  }
}

// 16 GB of states: on a B200 they stay, on a card that is full they travel.
TEST(Rent, PagedStatesTravelOnlyAsFarAsTheCardHasNoRoom) {
  Json request = full_8b();
  request["hardware"]["gpu"] = "b200-sxm";
  Json paged = request;
  paged["training"]["optim"] = "paged_adamw_32bit";
  request["training"]["optim"] = "adamw_torch_fused";
  EXPECT_NEAR(seconds(paged), seconds(request), 0.1 * seconds(request));
  for (Json* one : {&paged, &request}) (*one)["hardware"]["gpu"] = "rtx-a6000";
  EXPECT_GT(seconds(paged), 1.05 * seconds(request));
}

// Who asks which GPU to rent has none yet.
TEST(Rent, NeedsNoCardToBeChosen) {
  Json request = full_8b();
  request.erase("hardware");
  const Json advice = advice_on(request);
  EXPECT_TRUE(advice.at("gpu").is_null());
  ASSERT_TRUE(advice.at("rent").is_object());
  EXPECT_EQ(advice.at("rent").at("cheapest").at("instance"),
            advice_on(full_8b()).at("rent").at("cheapest").at("instance"));
}

// "1.5 TiB of host memory" on a machine that has 1,152 GiB.
TEST(Rent, NoMachineIsOfferedWithLessMemoryOfItsOwnThanIsNeeded) {
  constexpr double gib = 1073741824.0;
  const Json rent =
      advice_on({{"model", "llama-3.1-70b"},
                 {"stack", "trl"},
                 {"training", {{"bf16", true}, {"gradient_checkpointing", true}}},
                 {"parallel",
                  {{"num_gpus", 8},
                   {"strategy", "zero3"},
                   {"zero_optimization",
                    {{"offload_optimizer", {{"device", "cpu"}}}, {"offload_param", {{"device", "cpu"}}}}}}},
                 {"hardware", {{"gpu", "a100-sxm-80"}}},
                 {"want", {"rent"}}})
          .at("rent");
  bool needed = false;
  for (const Json& row : rent.at("machines")) {
    needed = needed || number(row, "host_bytes") > 1152 * gib;
    if (row.contains("host_gib")) {
      EXPECT_LE(number(row, "host_bytes"), number(row, "host_gib") * gib) << row;
    }
    EXPECT_NE(row.at("instance"), "p4de.24xlarge");
  }
  EXPECT_TRUE(needed);
}

}  // namespace
}  // namespace plimsoll::report
