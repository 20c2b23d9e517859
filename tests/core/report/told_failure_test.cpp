// A failure whose run is told in words alone: what is priced, and what is offered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/report/diagnose.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

using json::Json;

constexpr double gib = 1073741824;
constexpr const char* logits =
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 7.83 GiB. GPU 0 has a total capacity of 23.64 GiB of "
    "which 2.11 GiB is free. Of the allocated memory 20.98 GiB is allocated by PyTorch, and 100.00 MiB is reserved by "
    "PyTorch but unallocated.";

Json diagnosed(const std::string& text) { return Json::parse(diagnosis_text(text, "", "", presets())); }

TEST(ToldFailure, IsPricedWithWhatNobodyTrainsWithout) {
  const Json found = diagnosed("QLoRA of Llama-3.1-8B, rank 16, batch 4, length 4096, on an RTX 4090:\n" +
                               std::string(logits));
  // fp32 without checkpointing, the libraries' bare defaults, would need 183 GiB.
  EXPECT_LT(found.at("run").at("needed").get<double>(), 50 * gib);
  std::vector<std::string> named;
  for (const Json& one : found.at("adjusted")) named.push_back(one.at("pointer").get<std::string>());
  EXPECT_THAT(named, testing::IsSupersetOf(
                         {"/training/bf16", "/peft/target_modules", "/training/gradient_checkpointing"}));
  EXPECT_EQ(found.at("request").at("training").at("bf16"), true);
}

TEST(ToldFailure, IsNotCompletedWhereTheTextSaysOtherwise) {
  const Json found = diagnosed(
      "QLoRA of Llama-3.1-8B, rank 16, batch 4, length 4096, gradient checkpointing off, on an RTX 4090:\n" +
      std::string(logits));
  EXPECT_EQ(found.at("request").at("training").at("gradient_checkpointing"), false);
}

// What most runs have, a failed one may have lacked: it was told that checkpointing, of which it said nothing, had no effect.
TEST(ToldFailure, IsNotTakenToHaveHadTheCheckpointingThatNobodySays) {
  const std::string text =
      "I fine-tune Llama-3.1-8B with LoRA r=16 in bf16 on a 4090, batch size 1, max_length 2048, and it dies in the "
      "forward pass:\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 56.00 MiB. GPU 0 has a total "
      "capacity of 23.64 GiB of which 12.00 MiB is free. Of the allocated memory 23.10 GiB is allocated by PyTorch, and "
      "60.00 MiB is reserved by PyTorch but unallocated.";
  const Json found = diagnosed(text);
  EXPECT_FALSE(found.at("request").at("training").contains("gradient_checkpointing"));
  EXPECT_NE(found.at("causes").front().at("id"), "checkpointing_not_active");
  ASSERT_FALSE(found.at("plans").empty());
  EXPECT_EQ(found.at("plans").front().at("changes").front().at("fix"), "gradient_checkpointing");
}

TEST(ToldFailure, IsNotPricedWithWeightsThatItsFiguresRuleOut) {
  // TRL loads fp32 where nobody says a type: 29.9 GiB, and 20.98 GiB were allocated when the logits were asked for.
  const Json found = diagnosed("DPO of Llama-3.1-8B with LoRA, batch 2, 4096 tokens\n" + std::string(logits));
  EXPECT_EQ(found.at("request").at("model_args").at("dtype"), "bfloat16");
  for (const Json& cause : found.at("causes")) {
    if (cause.at("id") != "does_not_fit_at_all") continue;
    EXPECT_LT(cause.at("confidence").get<double>(), 0.1) << cause;
  }
  // A failure that may be of the loading itself rules nothing out.
  const Json loading = diagnosed(std::string(
      "DPO of Llama-3.1-8B with LoRA, batch 2, 4096 tokens\ntorch.OutOfMemoryError: CUDA out of memory. Tried to "
      "allocate 224.00 MiB. GPU 0 has a total capacity of 23.64 GiB of which 111.00 MiB is free. Of the allocated memory "
      "22.98 GiB is allocated by PyTorch, and 100.00 MiB is reserved by PyTorch but unallocated."));
  EXPECT_FALSE(loading.at("request").contains("model_args")) << loading.at("adjusted");
}

TEST(ToldFailure, IsPricedOnceWithTheReleaseThatFailed) {
  const Json found = diagnosed(
      "QLoRA of Llama-3.1-8B, batch 2, 4096 tokens on a 4090 worked with transformers 4.50, since I upgraded to 4.54 it "
      "fails:\n" +
      std::string(logits));
  EXPECT_EQ(found.at("request").at("versions").at("transformers"), "4.54");
  char needed[32];
  std::snprintf(needed, sizeof needed, "%.2f GiB", found.at("run").at("needed").get<double>() / gib);
  EXPECT_THAT(found.at("causes").dump(), testing::HasSubstr(needed));
}

TEST(ToldFailure, OfAnUpgradeThatChangesNothingIsExplainedByWhatItsFiguresShow) {
  const std::string text =
      "After upgrading transformers from 4.50 to 4.54 my QLoRA run of Llama-3.1-8B (batch 4, length 4096, A100 80GB) "
      "dies:\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 7.83 GiB. GPU 0 has a total capacity of "
      "79.25 GiB of which 5.38 GiB is free. Of the allocated memory 71.00 GiB is allocated by PyTorch, and 1.20 GiB is "
      "reserved by PyTorch but unallocated.";
  const Json found = diagnosed(text);
  EXPECT_EQ(found.at("causes").front().at("id"), "logits_peak");
  EXPECT_EQ(found.at("causes").at(1).at("id"), "regression_in_library")
      << "since when it fails is not forgotten";
}

// LoRA, QLoRA and full fine-tuning are priced, each of which fails.
TEST(ToldRun, SaysOnceWhatIsWrongWithAllItsWays) {
  const std::string text =
      "QLoRA or LoRA of Llama-3.1-8B on 99999999999999999999999x A100 80GB at 4096 tokens?";
  const Json found = diagnosed(text);
  ASSERT_EQ(found.at("errors").size(), 1U) << found.at("errors").dump();
  EXPECT_EQ(found.at("errors").front().at("pointer"), "/parallel/num_gpus");
}

TEST(ToldFailure, IsMetFirstByAPlanWithTheRemedyOfItsCause) {
  const Json found = diagnosed("QLoRA of Llama-3.1-8B, rank 16, batch 4, length 4096, on an RTX 4090:\n" +
                               std::string(logits));
  ASSERT_EQ(found.at("causes").front().at("id"), "logits_peak");
  ASSERT_FALSE(found.at("plans").empty());
  bool fused = false;
  for (const Json& row : found.at("plans").front().at("changes"))
    fused = fused || row.at("fix") == "fused_loss";
  EXPECT_TRUE(fused);
}

}  // namespace
}  // namespace plimsoll::report
