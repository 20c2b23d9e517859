// Settings in a sentence, as a library writes them.
#include <gtest/gtest.h>

#include "core/question/said_request.h"
#include "core/report/diagnose.h"
#include "tests/core/question/said.h"

namespace plimsoll::question {
namespace {

std::string answer_to(std::string_view text) {
  return report::diagnosis_text(text, "", "", diagnosis::catalog());
}

TEST(SaidSettings, AreReadByTheirNames) {
  constexpr std::string_view text =
      "GRPO of Qwen2.5-7B on an A100 80GB, vllm_gpu_memory_utilization=0.3, optim='paged_adamw_8bit', packing: "
      "False, \"use_liger_kernel\": true";
  EXPECT_EQ(value_of(text, "/rl/vllm_gpu_memory_utilization"), "0.3");
  EXPECT_EQ(value_of(text, "/training/optim"), "\"paged_adamw_8bit\"");
  EXPECT_EQ(value_of(text, "/training/packing"), "false");
  EXPECT_EQ(value_of(text, "/training/use_liger_kernel"), "true");
}

TEST(SaidSettings, WhatIsPassedOnCalledOrHasTwoValuesIsNone) {
  EXPECT_EQ(value_of("SFTConfig(packing=packing, optim=pick(it))", "/training/optim"), "");
  EXPECT_EQ(value_of("eval_accumulation_steps=1, then eval_accumulation_steps=4",
                     "/training/eval_accumulation_steps"),
            "");
  EXPECT_EQ(value_of("if prediction_loss_only == True", "/training/prediction_loss_only"), "");
}

TEST(SaidSettings, AFlagThatIsOffOutweighsItsName) {
  EXPECT_EQ(value_of("LoRA of Qwen2.5-7B, gradient_checkpointing=False", "/training/gradient_checkpointing"),
            "false");
}

TEST(SaidSettings, ALineWithThemIsARunToCome) {
  const std::string told =
      answer_to("Qwen2.5-7B LoRA on A100 80GB, lora_r=64, optim=paged_adamw_8bit, max_length=2048");
  EXPECT_NE(told.find("\"ok\":true"), std::string::npos) << told;
  EXPECT_NE(told.find("it fits"), std::string::npos) << told;
}

TEST(SaidSettings, AFileOfDeepSpeedSaysItsStage) {
  EXPECT_EQ(value_of("Qwen2.5-14B full sft on 4x L40S with ds_z3_config.json", "/parallel/strategy"),
            "\"zero3\"");
  EXPECT_EQ(value_of("Qwen2.5-14B full sft on 4x L40S with ds_z2_offload_config.json", "/parallel/strategy"),
            "\"zero2\"");
}

TEST(SaidSettings, AnAddressSaysNothingOfTheRun) {
  EXPECT_EQ(value_of("QLoRA of Llama 3.1 8B, see https://pytorch.org/docs/stable/notes/cuda.html on a 4090",
                     "/training/optim"),
            "");
  EXPECT_EQ(value_of("Llama 3.1 8B\n  File \"/home/me/qlora/train.py\", line 4, in main",
                     "/quantization/load_in_4bit"),
            "");
}

// A named stack has its own defaults: fp32 weights, two projections, no checkpointing. Nobody said that.
TEST(SaidSettings, AFrameOfTrlTakesNoDefaultsOfIts) {
  constexpr std::string_view trl =
      "QLoRA of Llama-3.1-8B\n  File \"/opt/lib/python3.11/site-packages/trl/trainer/sft_trainer.py\", line 4\n"
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 7.83 GiB. GPU 0 has a total capacity of 23.64 GiB "
      "of which 4.05 GiB is free.\nI fine-tune Llama-3.1-8B with QLoRA on an RTX 3090";
  const std::string told = answer_to(trl);
  EXPECT_EQ(value_of(trl, "/stack"), "");
  EXPECT_NE(told.find("/training/gradient_checkpointing"), std::string::npos) << told;
}

TEST(SaidSettings, AnEncoderLearnsScoresUnlessWordsAreGuessed) {
  const std::string scores = answer_to("Can I LoRA fine-tune BAAI/bge-m3 on a 4090, batch 64, 512 tokens?");
  EXPECT_NE(scores.find("a head with a score for each class"), std::string::npos) << scores;
  EXPECT_EQ(value_of("masked language modelling of roberta-large on a 4090", "/task"), "\"sft\"");
  EXPECT_EQ(value_of("QLoRA of qwen2.5-7b on a 4090", "/task"), "");
}

TEST(SaidSettings, HowManyIsAnsweredForEachSizeOfACardsName) {
  const std::string told =
      answer_to("How many A100s do I need for full fine-tuning of Qwen2.5-14B with ZeRO-3?");
  EXPECT_NE(told.find("x A100 SXM4 40GB, with zero3"), std::string::npos) << told;
  EXPECT_NE(told.find("x A100 SXM4 80GB, with zero3"), std::string::npos) << told;
}

}  // namespace
}  // namespace plimsoll::question
