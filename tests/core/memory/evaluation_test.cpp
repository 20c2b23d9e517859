// What runs when the model is evaluated: which loss kernel, which batch, packed or not.
#include "tests/core/report_answers.h"

namespace plimsoll::memory {
namespace {

using json::Json;
using report::answer;
using report::bytes;
using report::instant;

Json evaluated(const char* stack, const char* kernel, const Json& versions = Json::object()) {
  return {{"model", "llama-3.2-1b"},
          {"stack", stack},
          {"versions", versions},
          {"peft", {{"r", 16}, {"target_modules", "all-linear"}}},
          {"training",
           {{"bf16", true},
            {"loss_kernel", kernel},
            {"gradient_checkpointing", true},
            {"max_length", 4096},
            {"eval_strategy", "steps"},
            {"per_device_eval_batch_size", 2}}}};
}

// Bytes of the logits when a batch is evaluated. fp32 logits of two rows of 4,096 tokens are 4.2 GB.
uint64_t evaluated_logits(const Json& request) {
  const Json report = answer(request);
  EXPECT_EQ(report.at("ok"), true) << report;
  const Json eval = instant(report, "eval");
  for (const Json& row : eval.at("components")) {
    if (row.at("id") == "logits") return row.at("bytes").get<uint64_t>();
  }
  return 0;
}

constexpr uint64_t whole_logits = 2ULL * 4096 * 128256 * 4;

// transformers 5.15 trainer.py prediction_step; liger_kernel/transformers/model/llama.py lce_forward.
TEST(MemoryEvaluation, LigerSkipsTheLogitsWhereTransformersTellsIt) {
  EXPECT_LT(evaluated_logits(evaluated("hf", "liger", {{"transformers", "5.15"}})), whole_logits);
  EXPECT_GE(evaluated_logits(evaluated("hf", "liger", {{"transformers", "5.14"}})), whole_logits);
  Json metrics = evaluated("hf", "liger", {{"transformers", "5.15"}});
  metrics["training"]["compute_metrics"] = true;
  metrics["data"]["eval_samples"] = 2;
  EXPECT_GE(evaluated_logits(metrics), whole_logits);
}

// trl v1.0.0 trl/trainer/sft_trainer.py compute_loss.
TEST(MemoryEvaluation, TrlTellsLigerBeforeTransformersDoes) {
  const Json versions = {{"transformers", "5.10"}, {"trl", "1.0"}};
  EXPECT_LT(evaluated_logits(evaluated("trl", "liger", versions)), whole_logits);
  EXPECT_GE(evaluated_logits(evaluated("trl", "liger", {{"transformers", "5.10"}, {"trl", "0.25"}})),
            whole_logits);
}

// axolotl/integrations/liger/models/base.py, llamafactory model_utils/liger_kernel.py.
TEST(MemoryEvaluation, StacksThatPatchTheModelThemselvesEvaluateWithLogits) {
  EXPECT_GE(evaluated_logits(evaluated("axolotl", "liger")), whole_logits);
  EXPECT_GE(evaluated_logits(evaluated("llamafactory", "liger")), whole_logits);
}

TEST(MemoryEvaluation, CutCrossEntropyRunsInEvaluationToo) {
  EXPECT_LT(evaluated_logits(evaluated("axolotl", "cut_cross_entropy")), whole_logits / 100);
}

// unsloth 2026.10.9 unsloth/models/llama.py: whenever labels are given.
TEST(MemoryEvaluation, UnslothsFusedLossRunsInEvaluationToo) {
  Json request = evaluated("unsloth", "unsloth_fused");
  request["training"]["max_length"] = 16384;
  EXPECT_LT(evaluated_logits(request), 4 * whole_logits);
}

// unsloth 2025.8.2 unsloth/models/llama.py: logits are made up to 1,024 tokens, and not beyond.
TEST(MemoryEvaluation, OlderUnslothMakesTheLogitsOfSmallBatches) {
  Json request = evaluated("unsloth", "cut_cross_entropy", {{"unsloth", "2025.8.2"}});
  request["training"]["per_device_eval_batch_size"] = 1;
  request["training"]["max_length"] = 1025;
  const uint64_t beyond = evaluated_logits(request);
  request["training"]["max_length"] = 1024;
  EXPECT_GE(evaluated_logits(request), 1024ULL * 128256 * 2);
  EXPECT_LT(beyond, 10'000'000ULL);
  request["versions"]["unsloth"] = "2025.10.8";
  EXPECT_LT(evaluated_logits(request), 10'000'000ULL);
}

TEST(MemoryEvaluation, WithoutPackingARowIsAsLongAsTheLongestSample) {
  Json request = evaluated("axolotl", "stock");
  request["training"]["packing"] = true;
  request["data"] = {{"longest_length", 1024}};
  const uint64_t packed = evaluated_logits(request);
  request["training"]["eval_packing"] = false;
  EXPECT_NEAR(static_cast<double>(evaluated_logits(request)) / static_cast<double>(packed), 0.25, 0.01);
}

TEST(MemoryEvaluation, TheFormulaSpeaksOfTheEvaluatedBatch) {
  const Json report = answer(evaluated("hf", "liger", {{"transformers", "5.14"}}));
  const Json rows = instant(report, "eval").at("components");
  const auto logits =
      std::find_if(rows.begin(), rows.end(), [](const Json& row) { return row.at("id") == "logits"; });
  ASSERT_NE(logits, rows.end());
  EXPECT_NE(logits->at("formula").get<std::string>().find("kernel: stock"), std::string::npos) << *logits;
}

}  // namespace
}  // namespace plimsoll::memory
