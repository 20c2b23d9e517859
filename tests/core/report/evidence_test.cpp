// Which measured runs a report leans on, and what it does where there are none.
#include "core/run/evidence.h"

#include <algorithm>

#include "core/run/run.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

Json published(const char* transformers) {
  return {{"model", "mistral-7b-v0.1"},
          {"stack", "trl"},
          {"versions", {{"transformers", transformers}, {"trl", "0.13.0"}, {"torch", "2.4.1"}}},
          {"model_args", {{"dtype", "bfloat16"}, {"attn_implementation", "flash_attention_2"}}},
          {"peft", {{"r", 16}, {"target_modules", {"q_proj", "k_proj", "v_proj", "o_proj"}}}},
          {"training", {{"per_device_train_batch_size", 4}, {"max_length", 4096}}}};
}

TEST(Evidence, NamesTheMeasuredRunsThatAreNearest) {
  const Json rows = at(answer(published("4.48.1")), "/memory/peak/evidence");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows.at(0).at("distance"), 0.0);
  EXPECT_NE(rows.at(0).at("source").get<std::string>().find("fms-acceleration"), std::string::npos);
  EXPECT_LE(rows.at(0).at("distance"), rows.at(2).at("distance"));
}

TEST(Evidence, WidensTheBandOfLibrariesThatNobodyMeasured) {
  const auto width = [](const Json& report) {
    return at(report, "/memory/peak/high").get<double>() / at(report, "/memory/peak/device").get<double>();
  };
  EXPECT_GT(width(answer(published("4.28"))), 1.45);
  EXPECT_LT(width(answer(published("4.48.1"))), 1.4);
}

TEST(Evidence, GivesTheAllocatedPeakABandThatThinEvidenceWidens) {
  const auto width = [](const Json& report) {
    const Json peak = at(report, "/memory/peak");
    const double allocated = peak.at("allocated").get<double>();
    EXPECT_LE(peak.at("allocated_low").get<double>(), allocated);
    EXPECT_GE(peak.at("allocated_high").get<double>(), allocated);
    return (peak.at("allocated_high").get<double>() - peak.at("allocated_low").get<double>()) / allocated;
  };
  EXPECT_LT(width(answer(published("4.48.1"))), 0.02);
  Json far = published("5.15");
  far["stack"] = "axolotl";
  far["model"] = "llama-3.2-1b";
  EXPECT_GT(width(answer(far)), 0.03);
  EXPECT_GT(run::allocated_span({}).high, 1.1);
}

TEST(Evidence, WidensTheBandOfAStackThatNobodyMeasured) {
  const auto widened = [](const char* stack) {
    Json request = published("4.48.1");
    request["stack"] = stack;
    json::Errors errors;
    return run::read_run(json::write(request), presets(), errors).value().widening;
  };
  EXPECT_EQ(widened("trl"), 1.0);
  EXPECT_GT(widened("llamafactory"), 1.02);
  EXPECT_LT(widened("llamafactory"), 1.1);
}

// Its note says that the band is wider (streams_are_approximate), of the whole model and of the decoder alone.
TEST(Evidence, WidensTheBandOfParallelStreamsAsTheirNoteSays) {
  const auto widened = [](const Json& model) {
    Json request = published("5.15");
    request["model"] = model;
    json::Errors errors;
    return run::read_run(json::write(request), presets(), errors).value().widening;
  };
  const Json text = presets().find_model("gemma-3n-e2b")->preset.config.at("text_config");
  EXPECT_EQ(widened({{"config", text}, {"name", "gemma-3n-text"}}), widened("gemma-3n-e2b"));
}

TEST(Evidence, CountsReleasesAcrossTheChangeToFive) {
  EXPECT_EQ(run::release_of("4.48.1"), 48);
  EXPECT_EQ(run::release_of("5.0"), 58);
  EXPECT_EQ(run::release_of("5.15"), 73);
  EXPECT_EQ(run::release_of(""), 0);
}

TEST(Evidence, KnowsTheErrorOfEveryRunItNames) {
  EXPECT_GE(presets().evidence.size(), 50u);
  for (const run::Measured& run : presets().evidence) {
    EXPECT_FALSE(run.id.empty());
    EXPECT_FALSE(run.source.empty()) << run.id;
    EXPECT_TRUE(run.allocated || run.reserved || run.device) << run.id;
    EXPECT_GT(run.parameters, 1e7) << run.id;
    if (run.allocated) {
      EXPECT_LT(std::max(*run.allocated, -*run.allocated), 0.1) << run.id;
    }
  }
}

}  // namespace
}  // namespace plimsoll::report
