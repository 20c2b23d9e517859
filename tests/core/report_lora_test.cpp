// What print_trainable_parameters() printed in public runs, through the report.
// golden/lora_through_report.json: the request that describes the run, the printed trainable count and, where
// the base is counted as we count it, the printed total.
#include "tests/core/golden.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

Json printed_lines() {
  json::Errors errors;
  return json::parse(golden_file("lora_through_report.json"), errors).value_or(Json::array());
}

TEST(ReportLora, EveryPrintedTrainableCountIsReported) {
  const Json lines = printed_lines();
  EXPECT_EQ(lines.size(), 66u);
  size_t totals = 0;
  for (const Json& line : lines) {
    const Json report = answer(line.at("request"));
    ASSERT_EQ(report.at("ok"), true) << line << report;
    EXPECT_EQ(at(report, "/model/trainable"), line.at("trainable")) << line;
    if (line.contains("all")) {
      EXPECT_EQ(at(report, "/model/all_parameters"), line.at("all")) << line;
      ++totals;
    }
  }
  EXPECT_EQ(totals, 43u);
}

TEST(ReportLora, TheAdapterFileHoldsTheTrainedParametersInTheirType) {
  for (const Json& line : printed_lines()) {
    if (line.at("request").contains("task")) continue;  // a new head is stored in the type of the base
    Json request = line.at("request");
    const auto trainable = line.at("trainable").get<uint64_t>();
    EXPECT_EQ(bytes(answer(request), "/model/adapter_file_bytes"), 4 * trainable) << line;
    request["peft"]["adapter_dtype"] = "bfloat16";
    EXPECT_EQ(bytes(answer(request), "/model/adapter_file_bytes"), 2 * trainable) << line;
  }
}

// google/gemma-2-2b with two labels printed "all params: 2,617,545,984": the frozen score layer counts as
// well as the trained copy of it.
TEST(ReportLora, ANewHeadIsCountedTwiceInTheTotal) {
  const Json report = answer({{"model", "google/gemma-2-2b"},
                              {"task", "classification"},
                              {"peft", {{"r", 16}, {"target_modules", {"q_proj", "v_proj"}}}}});
  EXPECT_EQ(bytes(report, "/model/all_parameters"), 2617545984u);
  EXPECT_EQ(bytes(report, "/model/trainable"), 3199488u);
}

// PEFT's all-linear is every linear layer but the head: on Mistral-7B the same seven that people list by
// name.
TEST(ReportLora, AllLinearMeansEveryLinearLayerButTheHead) {
  const Json report =
      answer({{"model", "mistral-7b-v0.1"}, {"peft", {{"r", 16}, {"target_modules", "all-linear"}}}});
  EXPECT_EQ(bytes(report, "/model/trainable"), 41943040u);
  const Json one =
      answer({{"model", "mistral-7b-v0.1"}, {"peft", {{"r", 16}, {"target_modules", {"all-linear"}}}}});
  EXPECT_EQ(bytes(one, "/model/trainable"), 41943040u);
}

// Up to Transformers 4 the experts of Mixtral are linear layers that PEFT finds by name; from 5 on they are
// 3-D parameters that it does not, and PEFT raises when no target is found.
TEST(ReportLora, ExpertsAreTargetsOnlyBeforeTransformersFive) {
  Json request = {{"model", "mixtral-8x7b-v0.1"},
                  {"versions", {{"transformers", "4.57"}}},
                  {"peft", {{"r", 8}, {"target_modules", {"w1", "w2", "w3"}}}}};
  const Json four = answer(request);
  // 32 layers x 8 experts x three matrices between 4096 and 14336.
  EXPECT_EQ(bytes(four, "/model/trainable"), 8u * 32 * 8 * 3 * (4096 + 14336));
  request["versions"]["transformers"] = "5.15";
  const Json five = answer(request);
  ASSERT_EQ(five.at("ok"), false);
  EXPECT_EQ(at(five, "/errors/0/pointer"), "/peft/target_modules");
}

// Unsloth's notebook for gpt-oss lists gate_proj and up_proj, which this model does not have; the run trains
// the rest.
TEST(ReportLora, TargetsThatTheModelLacksAreNoted) {
  const Json report =
      answer({{"model", "gpt-oss-20b"}, {"peft", {{"r", 4}, {"target_modules", {"q_proj", "gate_proj"}}}}});
  ASSERT_EQ(report.at("ok"), true) << report;
  EXPECT_TRUE(has_note(report, "targets_not_found"));
  EXPECT_FALSE(has_note(answer({{"model", "gpt-oss-20b"}, {"peft", {{"target_modules", {"q_proj"}}}}}),
                        "targets_not_found"));
}

// PEFT 0.19 and later adapt the stacked experts where their old linears are asked for: three layers of
// Mixtral have 33,718,656 trainable parameters under Transformers 5 (tests/measured/real_step.py with
// "all-linear"), 1.5 million of them in linears.
TEST(ReportLora, AdaptersOnStackedExpertsAreSaidToBeMissing) {
  Json request = {{"model", "qwen3-30b-a3b"},
                  {"stack", "hf"},
                  {"versions", {{"transformers", "5.15"}, {"peft", "0.21"}}},
                  {"peft", {{"r", 16}, {"target_modules", "all-linear"}}}};
  EXPECT_TRUE(has_note(answer(request), "experts_get_adapters"));
  request["versions"]["peft"] = "0.19";
  EXPECT_FALSE(has_note(answer(request), "experts_get_adapters"));
  request["peft"]["target_modules"] = {"q_proj", "gate_proj"};
  EXPECT_TRUE(has_note(answer(request), "experts_get_adapters"));
  request["versions"]["peft"] = "0.21";
  request["peft"]["target_modules"] = {"q_proj", "v_proj"};
  EXPECT_FALSE(has_note(answer(request), "experts_get_adapters"));
}

}  // namespace
}  // namespace plimsoll::report
