// Plans as a person gets them, case by case. What holds for all requests is in tests/drawn.
#include <memory>
#include <set>

#include "core/advice/fix.h"
#include "core/report/advice.h"
#include "core/report/compare.h"
#include "core/report/elsewhere.h"
#include "tests/core/report_answers.h"
#include "tests/drawn/request.h"

namespace plimsoll::report {
namespace {

Json read(const std::string& text) {
  json::Errors errors;
  return json::parse(text, errors).value_or(Json::object());
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
  const auto run = run::read_run(json::write(request), presets(), errors);
  ASSERT_TRUE(run);
  advice::Advisor advisor(*run, presets());
  json::Writer out;
  report::write_plans(out, advisor, usable_for(*run, run->gpu->usable_bytes));
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

// On a DGX Spark the processor's memory is that of the GPU.
TEST(Advice, NothingIsMovedToTheProcessorsMemoryWhereTheGpuSharesIt) {
  for (const char* gpu : {"gb10", "h100-sxm"}) {
    const Json request = {{"model", "llama-3.1-8b"},
                          {"training", {{"per_device_train_batch_size", 16}, {"max_length", 16384}}},
                          {"hardware", {{"gpu", gpu}}}};
    json::Errors errors;
    const auto run = run::read_run(json::write(request), presets(), errors);
    ASSERT_TRUE(run);
    std::size_t ways = 0;
    for (const advice::Fix* fix : advice::fixes()) {
      if (!fix->to_host) continue;
      ways += advice::levels_of(*fix, {run->network, run->resolved.recipe, run->resolved.values, run->gpu})
                  .size();
    }
    EXPECT_EQ(ways == 0, run->gpu->unified_memory) << gpu;
  }
}

// Each plan of `request` for its card, against the full report of the changed request.
void expect_as_reported(const Json& request) {
  json::Errors errors;
  const auto run = run::read_run(json::write(request), presets(), errors);
  ASSERT_TRUE(run) << json::write(request);
  advice::Advisor advisor(*run, presets());
  json::Writer out;
  report::write_plans(out, advisor, usable_for(*run, run->gpu->usable_bytes));
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

Json ways_out(const Json& request) {
  json::Errors errors;
  const auto run = run::read_run(json::write(request), presets(), errors);
  EXPECT_TRUE(run) << json::write(request);
  advice::Advisor advisor(*run, presets());
  json::Writer out;
  report::write_elsewhere(out, *run, presets(), advisor.basis(), usable_for(*run, run->gpu->usable_bytes));
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

Json qlora(const char* model, const char* gpu) {
  return {{"model", model},
          {"hardware", {{"gpu", gpu}}},
          {"peft", {{"r", 8}, {"target_modules", "all-linear"}}},
          {"quantization", {{"load_in_4bit", true}}},
          {"training",
           {{"bf16", true},
            {"per_device_train_batch_size", 1},
            {"max_length", 4096},
            {"gradient_checkpointing", true}}}};
}

// bitsandbytes packs nn.Linear alone: Qwen3's experts are that in Transformers 4.57, and one parameter in 5.
TEST(Advice, ExpertsThatWereLinearsBeforeTransformers5ArePackedThere) {
  Json request = qlora("qwen3-30b-a3b", "rtx-a6000");
  const auto only_change = [](const Json& report) {
    const Json& plans = report.at("gpu").at("plans");
    EXPECT_FALSE(plans.empty());
    const Json& changes = plans.empty() ? plans : plans.front().at("changes");
    return changes.size() == 1 ? changes.front().at("pointer").get<std::string>() : "";
  };
  EXPECT_EQ(only_change(advice_on(request)), "/versions/transformers");
  request["stack"] = "axolotl";
  EXPECT_EQ(only_change(advice_on(request)), "/quantization/quantize_moe_experts");
  request["versions"] = {{"transformers", "4.57"}};
  EXPECT_TRUE(advice_on(request).at("gpu").at("plans").empty());  // it fits
}

// The least that helps a preference under TRL before 1.15 is a newer one, and not another way to train.
TEST(Advice, ANewerTrlIsAWayOutOfLogitsThatItDoesNotMake) {
  const Json request = {
      {"model", "llama-3.1-8b"},
      {"task", "dpo"},
      {"stack", "trl"},
      {"training", {{"per_device_train_batch_size", 2}, {"max_length", 4096}, {"bf16", true}}},
      {"model_args", {{"dtype", "bfloat16"}}},
      {"peft", {{"target_modules", "all-linear"}}},
      {"versions", {{"trl", "1.9"}}},
      {"hardware", {{"gpu", "rtx-4090"}}}};
  const Json plans = advice_on(request).at("gpu").at("plans");
  ASSERT_FALSE(plans.empty());
  for (const Json& plan : plans) EXPECT_NE(plan.dump().find("newer_trl"), std::string::npos);
  EXPECT_EQ(plans.front().dump().find("load_in_4bit"), std::string::npos);
  // What plans call the same numbers is the same run but for its loss.
  Json older = request;
  older["versions"]["trl"] = "0.25";
  EXPECT_EQ(advice_on(older).dump().find("newer_trl"), std::string::npos);
  const auto defaults = [&request](const char* trl) {
    Json asked = request;
    asked["versions"]["trl"] = trl;
    const Json report = answer(asked);
    std::set<std::string> found;
    for (const Json& one : report.at("assumptions")) {
      const std::string pointer = one.at("pointer");
      if (pointer.find("loss_kernel") == std::string::npos &&
          pointer.find("cross_entropy") == std::string::npos)
        found.insert(pointer + " " + one.at("value").dump());
    }
    return found;
  };
  EXPECT_EQ(defaults("1.0"), defaults("1.16"));
  Json newer = request;
  newer["versions"]["trl"] = "1.16";
  EXPECT_EQ(advice_on(newer).dump().find("newer_trl"), std::string::npos);
}

// TRL takes no adapter of the head from 1.15 on (trl/trainer/utils.py add_fused_lm_head).
TEST(Advice, NoPlanMovesToAReleaseThatRefusesTheRun) {
  const Json request = {{"model", "llama-3.1-8b"},
                        {"task", "dpo"},
                        {"stack", "trl"},
                        {"training", {{"per_device_train_batch_size", 2}, {"max_length", 4096}}},
                        {"peft", {{"target_modules", {"q_proj", "v_proj", "lm_head"}}}},
                        {"versions", {{"trl", "1.10"}}},
                        {"hardware", {{"gpu", "rtx-4090"}}}};
  const std::string advice = advice_on(request).dump();
  EXPECT_NE(advice.find("load_in_4bit"), std::string::npos);
  EXPECT_EQ(advice.find("newer_trl"), std::string::npos);
}

// gpt-oss's experts are one parameter in every release; Unsloth makes linears of them.
TEST(Advice, WhereNoSettingHelpsUnslothMay) {
  const Json report = advice_on(qlora("gpt-oss-20b", "rtx-4090"));
  EXPECT_TRUE(report.at("gpu").at("plans").empty());
  const Json* found = way(report.at("gpu").at("elsewhere"), "with_unsloth");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->at("changes"), Json({{"/stack", "unsloth"}}));
  Json there = qlora("gpt-oss-20b", "rtx-4090");
  there["stack"] = "unsloth";
  EXPECT_EQ(advice_on(there).at("gpu").at("verdict"), "fits");
}

// No plan takes it while states can still be moved over PCIe or LOMO updates them; most people would.
TEST(Advice, WhereAllWeightsAreTooManyAdaptersAreOffered) {
  const Json request = {
      {"model", "llama-3.1-8b"},
      {"peft", nullptr},
      {"training", {{"per_device_train_batch_size", 1}, {"max_length", 8192}, {"bf16", true}}},
      {"hardware", {{"gpu", "rtx-4090"}}}};
  const Json report = advice_on(request);
  const Json* found = way(report.at("gpu").at("elsewhere"), "with_adapters");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->at("name"), "QLoRA, rank 16");
  Json there = request;
  for (const auto& [pointer, value] : found->at("changes").items())
    there[Json::json_pointer(pointer)] = value;
  EXPECT_EQ(advice_on(there).at("gpu").at("verdict"), "fits");
  Json locked = request;
  locked["locks"] = {"peft"};
  EXPECT_EQ(way(advice_on(locked).at("gpu").at("elsewhere"), "with_adapters"), nullptr);
}

TEST(Advice, ARentedMachineIsNoNotebook) {
  int named = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Json request = drawn::drawn_request(seed, {.small = true, .plain = true});
    request["hardware"] = {{"gpu", "rtx-3060-12"}};
    request["locks"] = Json::array();
    json::Errors errors;
    if (!run::read_run(json::write(request), presets(), errors)) continue;
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

Json fixes_of(Json request) {
  request["want"] = {"gpu_only", "no_limits"};
  const Json advice = advice_on(request);
  return advice.contains("fixes") ? advice.at("fixes") : Json::array();
}
std::vector<Json> fixes_called(const Json& all, std::string_view id) {
  std::vector<Json> found;
  for (const Json& one : all) {
    if (one.at("fix") == id) found.push_back(one);
  }
  return found;
}

// 700 of 1,024 tokens, half-way from 400 to 1,000: 0.5 - 0.5 * (0.5 - 0.1) = 0.3 of the samples are longer.
TEST(Advice, AShorterLengthSaysWhatShareOfTheSamplesItCuts) {
  Json request = request_of("a-before");
  request["training"]["max_length"] = 1400;  // quarters in steps of 64: 1024, 640, 320
  request["data"] = {
      {"p50_length", 340}, {"p90_length", 640}, {"p99_length", 1000}, {"longest_length", 1024}};
  const std::vector<Json> levels = fixes_called(fixes_of(request), "shorter");
  ASSERT_EQ(levels.size(), 3u);
  EXPECT_EQ(levels[0].at("evidence"), "No sample is longer than 1024 tokens.");
  EXPECT_EQ(levels[1].at("evidence"),
            "About 10 % of the samples are longer than 640 tokens and lose their end.");
  // 320 of 340 tokens down to the half: 1 - 0.5 * 320 / 340 = 0.5294.
  EXPECT_EQ(levels[2].at("evidence"),
            "About 53 % of the samples are longer than 320 tokens and lose their end.");
  request["data"] = Json::object();
  const std::vector<Json> unknown = fixes_called(fixes_of(request), "shorter");
  ASSERT_FALSE(unknown.empty());
  EXPECT_NE(unknown[0].at("evidence").get<std::string>().find("depends on your data"), std::string::npos);
}

// The longest sample has 2,000 tokens, the mean 300: eight of them padded are 16,000 tokens, end to end
// 4,100.
TEST(Advice, WithoutPaddingABatchHoldsItsLongestSampleAndTheOthersAsTheyAre) {
  Json request = request_of("a-before");
  request["data"] = {{"mean_length", 300}, {"longest_length", 2000}};
  const std::vector<Json> free = fixes_called(fixes_of(request), "padding_free");
  ASSERT_EQ(free.size(), 1u);
  EXPECT_EQ(free[0].at("quality"), "none");
  Json changed = request;
  for (const auto& [pointer, value] : free[0].at("changes").items()) {
    changed[Json::json_pointer(pointer)] = value;
  }
  Json fewer_tokens = changed;
  fewer_tokens["data"] = Json::object();
  fewer_tokens["training"]["max_length"] = 4100 / 8;
  const double saved =
      gib(answer(request), "/memory/peak/allocated") - gib(answer(changed), "/memory/peak/allocated");
  EXPECT_NEAR(gib(answer(changed), "/memory/peak/allocated"),
              gib(answer(fewer_tokens), "/memory/peak/allocated"),
              0.01 * gib(answer(fewer_tokens), "/memory/peak/allocated"));
  EXPECT_GT(saved, 0);
  // Nothing is known of the lengths, or nothing is padded: nothing to offer.
  request["data"] = Json::object();
  EXPECT_TRUE(fixes_called(fixes_of(request), "padding_free").empty());
  request["data"] = {{"mean_length", 300}, {"longest_length", 2000}};
  request["training"]["packing"] = true;
  EXPECT_TRUE(fixes_called(fixes_of(request), "padding_free").empty());
  // A card without FlashAttention-2.
  request["training"]["packing"] = false;
  request["hardware"]["gpu"] = "t4";
  request["training"]["bf16"] = false;
  request["training"]["fp16"] = true;
  EXPECT_TRUE(fixes_called(fixes_of(request), "padding_free").empty());
}

// How long the samples are changes a step; how many there are does not, and neither does a section of its
// own.
TEST(Advice, AComparisonNamesTheLengthsOfTheDataAndNoEmptySection) {
  Json before = request_of("a-before");
  before["data"] = {{"samples", 1000}, {"mean_length", 300}, {"longest_length", 2000}};
  Json after = before;
  after["data"] = {{"samples", 9000}, {"mean_length", 300}, {"longest_length", 1000}};
  after["versions"]["torch"] = "2.6";
  before.erase("versions");
  const Json comparison = read(compare_text(json::write(before), json::write(after), presets()));
  std::set<std::string> named;
  for (const char* list : {"differences", "no_effect"}) {
    for (const Json& row : comparison.at(list)) named.insert(row.at("field").get<std::string>());
  }
  EXPECT_EQ(named.count("data.longest_length"), 1u);
  EXPECT_EQ(named.count("data.samples"), 0u);
  EXPECT_EQ(named.count("versions"), 0u);
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

// Plans for every size take as long as all the rest; a page that shows one card asks for that card's.
TEST(Advice, ForTheChosenCardAloneSaysOfItWhatTheWholeAdviceSays) {
  Json request = {{"model", "llama-3.2-1b"},
                  {"training", {{"per_device_train_batch_size", 32}, {"max_length", 4096}, {"bf16", true}}},
                  {"hardware", {{"gpu", "rtx-4090"}}}};
  const Json whole = advice_on(request);
  request["want"] = {"gpu_only"};
  const Json alone = advice_on(request);
  EXPECT_FALSE(whole.at("gpu").at("plans").empty());
  EXPECT_EQ(alone.at("gpu"), whole.at("gpu"));
  EXPECT_EQ(alone.at("fixes"), whole.at("fixes"));
  EXPECT_TRUE(alone.at("tiers").empty());
  EXPECT_EQ(alone.at("limits"), whole.at("limits"));
  request["want"] = {"gpu_only", "no_limits"};
  const Json soon = advice_on(request);
  EXPECT_EQ(soon.at("gpu"), whole.at("gpu"));
  EXPECT_TRUE(soon.at("limits").is_null());
  request.erase("hardware");
  const Json open = advice_on(request);
  EXPECT_FALSE(open.at("tiers").empty());
}

// A plan that dies on the chosen card says nothing of a larger one.
TEST(Advice, JudgesAPlanForALargerSizeByTheRoomThatIsThere) {
  constexpr double gib = 1073741824;
  const Json request = {{"model", "mistral-7b-v0.3"},
                        {"quantization", {{"load_in_4bit", true}}},
                        {"peft", {{"r", 32}, {"target_modules", "all-linear"}}},
                        {"training",
                         {{"per_device_train_batch_size", 8},
                          {"max_length", 2048},
                          {"bf16", true},
                          {"gradient_checkpointing", false}}},
                        {"hardware", {{"gpu", "rtx-a6000"}}}};
  std::size_t larger = 0;
  const Json advice = advice_on(request);
  for (const Json& tier : advice.at("tiers")) {
    if (tier.at("gib") <= 48) continue;
    for (const Json& plan : tier.at("plans")) {
      const Json& peak = plan.at("peak");
      EXPECT_LE(peak.at("enough").get<double>(), 1.15 * peak.at("needed").get<double>() + 1.2 * gib)
          << tier.at("gib");
      ++larger;
    }
  }
  EXPECT_GT(larger, 0u);
}

}  // namespace
}  // namespace plimsoll::report
