// Several files of one run, read as one request.
#include "core/report/join.h"

#include <gtest/gtest.h>

#include "core/report/exchange.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

using json::Json;

Json import_of(std::string_view text) {
  json::Errors errors;
  return json::parse(import_text(text, "", presets()), errors).value_or(Json());
}

constexpr const char* deepspeed =
    R"({"zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"}}, "train_batch_size": "auto",
        "gradient_accumulation_steps": 2, "train_micro_batch_size_per_gpu": "auto"})";
constexpr const char* command =
    "accelerate launch --num_processes 8 --mixed_precision bf16 train.py --model_name_or_path "
    "meta-llama/Llama-3.1-8B";
constexpr const char* script =
    "from trl import SFTConfig\nargs = SFTConfig(per_device_train_batch_size=1, "
    "gradient_accumulation_steps=16,\n  gradient_checkpointing=True, bf16=True)\n";

TEST(Join, ALauncherAScriptAndDeepSpeedsFileAreOneRun) {
  const Json whole = joined({import_of(deepspeed), import_of(command), import_of(script)}, presets());
  const Json& request = whole.at("request");
  EXPECT_EQ(at(request, "/model"), "meta-llama/Llama-3.1-8B");
  EXPECT_EQ(at(request, "/parallel/num_gpus"), 8);
  EXPECT_EQ(at(request, "/parallel/strategy"), "zero3");
  EXPECT_EQ(at(request, "/parallel/zero_optimization/offload_optimizer/device"), "cpu");
  EXPECT_EQ(at(request, "/training/per_device_train_batch_size"), 1);
  EXPECT_EQ(whole.at("partial"), false);
  EXPECT_EQ(whole.at("leads"), 1);
  for (const Json& one : whole.at("missing")) EXPECT_NE(one.at("pointer"), "/parallel/num_gpus");
}

// A launcher's "hf" is what is taken for want of a trainer.
TEST(Join, TheLibraryIsThatOfTheTrainer) {
  EXPECT_EQ(at(joined({import_of(command), import_of(script)}, presets()), "/request/stack"), "trl");
}

TEST(Join, WhatTwoFilesSayOtherwiseIsTheLeadersAndSaidToBe) {
  const Json whole = joined(
      {import_of("SFTTrainer(model=\"Qwen/Qwen3-8B\", args=SFTConfig(gradient_accumulation_steps=16))\n"),
       import_of(deepspeed)},
      presets());
  EXPECT_EQ(at(whole, "/request/training/gradient_accumulation_steps"), 16);
  bool told = false;
  for (const Json& key : whole.at("keys"))
    told = told || (key.at("use") == "implied" && key.contains("message") &&
                    key.at("message") == "another of these files says otherwise");
  EXPECT_TRUE(told);
}

TEST(Join, AFileOfAnotherModelIsAnotherRuns) {
  const Json whole = joined(
      {import_of("SFTTrainer(model=\"Qwen/Qwen3-8B\", args=SFTConfig(bf16=True))\n"), import_of(command)},
      presets());
  EXPECT_EQ(at(whole, "/request/model"), at(import_of(command), "/request/model"));
  EXPECT_FALSE(whole.at("request").at("training").contains("gradient_checkpointing"));
}

// A page or a script may hand over anything.
TEST(Join, WhatIsNoImportStaysOut) {
  const Json torn = {{"request", {{"stack", "trl"}}}, {"counts", {{"used", 9}}}};
  const Json alone = joined({import_of(command)}, presets());
  EXPECT_EQ(joined({import_of(command), torn, 3, Json::array()}, presets()), alone);
  EXPECT_EQ(joined({torn}, presets()), torn);
}

TEST(Join, OfTextsThatAreNoFilesTheFirstAnswerIsGiven) {
  EXPECT_EQ(joined({import_of("nothing here"), import_of("nor here")}, presets()).at("ok"), false);
  EXPECT_TRUE(joined({}, presets()).is_null());
  EXPECT_EQ(joined({import_of("nothing here"), import_of(command)}, presets()).at("ok"), true);
}

}  // namespace
}  // namespace plimsoll::report
