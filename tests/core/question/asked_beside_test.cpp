// What people ask in passing: one value instead of another, what it saves, what it costs, whether a figure is right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/diagnosis/diagnosis.h"
#include "core/question/pasted_case.h"
#include "core/question/said_request.h"
#include "tests/core/question/said.h"

namespace plimsoll::question {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<json::Json> weighed_of(const std::string& text, const std::string& pointer) {
  const SaidRequest request = said(text);
  const auto found = request.weighed.find(pointer);
  return found == request.weighed.end() ? std::vector<json::Json>() : found->second;
}

TEST(AskedBeside, OneNumberInsteadOfAnotherWeighsBoth) {
  using Values = std::vector<json::Json>;
  EXPECT_EQ(weighed_of("QLoRA of Llama 3.1 8B on a 4090, rank 64 instead of 16?", "/peft/r"),
            (Values{64, 16}));
  EXPECT_EQ(weighed_of("Llama 3.1 8B LoRA: rank from 128 to 16, does it help?", "/peft/r"),
            (Values{128, 16}));
  EXPECT_EQ(weighed_of("mistral 7b lora 4090 bs 1 or 4?", "/training/per_device_train_batch_size"),
            (Values{1, 4}));
  EXPECT_EQ(weighed_of("from 2k to 8k context on a qwen2.5 7b lora?", "/training/max_length"),
            (Values{8192, 2048}));
  EXPECT_TRUE(
      weighed_of("Mistral 7B LoRA, batch 4 or 2 4090s?", "/training/per_device_train_batch_size").empty());
}

TEST(AskedBeside, AnOptimizerIsHeldAgainstTheOneItReplaces) {
  using Values = std::vector<json::Json>;
  EXPECT_EQ(weighed_of("adamw vs adamw_8bit, full ft llama 3.2 3b", "/training/optim").size(), 2U);
  EXPECT_EQ(weighed_of("what would 8-bit Adam save me on llama 3.1 8b", "/training/optim"),
            (Values{"adamw_torch", "adamw_8bit"}));
  EXPECT_EQ(weighed_of("lion instead of adamw for full ft of llama 3.2 1b", "/training/optim").size(), 2U);
  EXPECT_EQ(weighed_of("full ft of llama 3.2 1b, bf16 instead of fp32?", "/model_args/dtype").size(), 2U);
}

TEST(AskedBeside, AQuestionWithoutItsMarkIsOneAndReportsNoFailure) {
  const auto failures = [](const char* text) { return diagnosis::explained(text).reading.messages.size(); };
  EXPECT_EQ(failures("does it fit if I use rank 64 instead of 16"), 0U);
  EXPECT_EQ(failures("if we turn off gradient checkpointing does qwen2.5-7b qlora still fit on the 4090s?"),
            0U);
  EXPECT_EQ(failures("it is out of memory"), 1U);
  EXPECT_TRUE(asks("what would 8-bit adam save me on llama 3.1 8b"));
  EXPECT_FALSE(asks("model = load(\"x\")"));
  EXPECT_TRUE(asks("7b的模型用lora微调，24g显存不够，为什么"));
  EXPECT_TRUE(asks("qwen2.5-7b lora微调需要多少显存"));
}

TEST(AskedBeside, AFigureThatWasSeenIsHeldAgainstTheRun) {
  EXPECT_THAT(words_for("I measured 31 GB with LoRA of Mistral 7B on an A100 40GB, is that right?"),
              HasSubstr("You saw 31.00 GiB: more than this run accounts for"));
  const std::string seen = "im seeing 18gb in nvidia-smi for mistral 7b qlora, normal?";
  EXPECT_THAT(words_for(seen), Not(HasSubstr("a card of")));
  EXPECT_THAT(words_for(seen), HasSubstr("You saw 18.00 GiB"));
  EXPECT_THAT(words_for("Mistral 7B LoRA on a card with 18gb, is that right?"), Not(HasSubstr("You saw")));
}

TEST(AskedBeside, APriceIsOfAnHourAndOfThoseThatAreSaid) {
  const std::string told_of =
      words_for("How much does it cost to fine-tune Llama 3.1 8B with LoRA on an H100 for 3 hours?");
  EXPECT_THAT(told_of, HasSubstr("The lowest price that is known for it is $"));
  EXPECT_THAT(told_of, HasSubstr(" for 3 hours."));
  EXPECT_THAT(words_for("price for a LoRA of Llama 3.1 8B on an H100?"),
              HasSubstr("How long the run takes is not answered"));
  EXPECT_THAT(words_for("What would DoRA instead of LoRA cost me in memory on Mistral-7B?"),
              Not(HasSubstr("$")));
  EXPECT_THAT(words_for("how long a context fits for llama 3.1 8b qlora on a 3090"),
              Not(HasSubstr("How long the run")));
}

TEST(AskedBeside, AFamilyAloneIsItsUsualModel) {
  EXPECT_EQ(said("Mixtral QLoRA").model, "mistralai/Mixtral-8x7B-v0.1");
  EXPECT_EQ(said("Mixtral 8x22B lora on 8xH100").model, "Mixtral-8x22B");
}

TEST(AskedBeside, CardsAreCountedApartFromTheirName) {
  EXPECT_EQ(said("Can 4x L4 fine-tune Qwen2.5-14B with FSDP and LoRA?").values["/parallel/num_gpus"],
            json::Json(4));
  EXPECT_EQ(said("llama 3.1 70b qlora on 1x48gb").card_bytes, 48.0 * 1024 * 1024 * 1024);
}

// "16 gb" was a card's, and "16 gib" nothing.
TEST(AskedBeside, ASizeIsOneInWhateverUnit) {
  constexpr double gib = 1024.0 * 1024 * 1024;
  for (const char* text :
       {"does qlora of llama 3.1 8b fit with 16 gib", "does qlora of llama 3.1 8b fit with 16 gb",
        "does qlora of llama 3.1 8b fit with 16gib", "does qlora of llama 3.1 8b fit with 16 gigs"})
    EXPECT_EQ(said(text).card_bytes, 16 * gib) << text;
  EXPECT_EQ(said("qlora of llama 3.1 8b on a 4090, 22 gib free").values["/hardware/in_use_gib"],
            json::Json(2.0));
}

// A disk is read as one, and said not to be priced as one; who cannot offload to it has not.
TEST(AskedBeside, WhatGoesToADiskIsNoHostMemory) {
  const std::string plan =
      "DeepSpeed ZeRO-3 with NVMe offload for full fine-tuning of Llama-3.1-70B on 8 A100 80GB?";
  EXPECT_EQ(said(plan).values["/parallel/zero_optimization/offload_param/device"], json::Json("nvme"));
  EXPECT_THAT(words_for(plan), HasSubstr("NVMe is not priced as such"));
  EXPECT_THAT(words_for("LoRA of Llama-3.1-8B on a 4090 with NVMe offload?"),
              HasSubstr("not read and not counted: what is"));
}

}  // namespace
}  // namespace plimsoll::question
