// Plans and questions of a newcomer, each mended once: what they ask is answered, and nothing is said to have failed.
#include <gtest/gtest.h>

#include "core/report/diagnose.h"
#include "tests/core/question/said.h"

namespace plimsoll::question {
namespace {

std::string told_of(std::string_view text) {
  return report::diagnosis_text(text, "", "", diagnosis::catalog());
}
bool tells_that(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(SaidPlans, ANumberThatNoRunHasIsNotPassedOver) {
  EXPECT_TRUE(
      tells_that(words_for("QLoRA of Llama 3.1 8B on a 4090, batch 99999999999999999999999, 2048 tokens"),
                 "not counted: batch 99999999999999999999999"));
  EXPECT_TRUE(tells_that(words_for("QLoRA of Llama 3.1 8B on a 4090, batch size 100000, 2048 tokens"),
                         "not counted: batch size 100000"));
  EXPECT_FALSE(tells_that(words_for("QLoRA of Llama 3.1 8B on a 4090, batch 4, 2048 tokens"), "not counted"));
}

TEST(SaidPlans, SequencesThatAreDividedOverCardsAreCounted) {
  const char* size = "/parallel/sequence_parallel_size";
  EXPECT_EQ(value_of("LoRA of Llama 3.1 8B at 128k on 4xA100 80GB with sequence parallel 4", size), "4");
  EXPECT_EQ(value_of("LoRA of Llama 3.1 8B, context parallelism of 2, 4xA100 80GB", size), "2");
  EXPECT_EQ(value_of("LoRA of Llama 3.1 8B, Ulysses size 8, 8xH100", size), "8");
  EXPECT_EQ(value_of("LoRA of Llama 3.1 8B, 4-way sequence parallelism, 8xH100", size), "4");
}

// Switched on it was, by its name alone: 25.4 GiB for a run that takes 48.9.
TEST(SaidPlans, WhatCannotBeHadIsOffAndNoPlanTakesIt) {
  const char* liger = "/training/use_liger_kernel";
  for (const char* text :
       {"QLoRA of Llama 3.1 8B, batch 4, 4096 tokens, RTX 4090. I can't use Liger.",
        "QLoRA of Llama 3.1 8B, batch 4, 4096 tokens, RTX 4090. Liger is not available here.",
        "QLoRA of Llama 3.1 8B, batch 4, 4096 tokens, RTX 4090, Liger doesn't work",
        "QLoRA von Llama 3.1 8B, Batch 4, 4096 Token, RTX 4090, Liger lässt sich nicht installieren",
        "用QLoRA微调Llama 3.1 8B, batch 4, 4096 tokens, RTX 4090, liger装不上"}) {
    EXPECT_EQ(value_of(text, liger), "false") << text;
    EXPECT_EQ(value_of(text, "/locks"), R"(["training.use_liger_kernel"])") << text;
    EXPECT_FALSE(tells_that(told_of(text), "use_liger_kernel=True")) << text;
  }
  const char* attention = "QLoRA of Llama 3.1 8B at 4k on a 4090, flash attention is not installed";
  EXPECT_EQ(value_of(attention, "/model_args/attn_implementation"), "");
  EXPECT_EQ(value_of(attention, "/locks"), R"(["model_args.attn_implementation"])");
}

TEST(SaidPlans, WhatIsOffOrWithoutEffectMayStillBeProposed) {
  EXPECT_EQ(value_of("QLoRA of Llama 3.1 8B at 4k on a 4090 without Liger", "/locks"), "");
  const char* ignored = "QLoRA of Llama 3.1 8B at 4k on a 4090, gradient checkpointing doesn't work";
  EXPECT_EQ(value_of(ignored, "/training/gradient_checkpointing"), "true");
  EXPECT_EQ(value_of("I can't fit QLoRA of Llama 3.1 8B at 4k with flash attention", "/locks"), "");
}

TEST(SaidPlans, MixedPrecisionOfAllWeightsKeepsThemInFp32) {
  const char* dtype = "/model_args/dtype";
  const char* plain = "Full fine-tune of Qwen2.5-7B, AdamW, bf16 mixed precision, batch 1, one H100";
  EXPECT_EQ(value_of(plain, dtype), "\"float32\"");
  EXPECT_EQ(value_of(plain, "/training/bf16"), "true");
  EXPECT_EQ(value_of("Full fine-tune of Qwen2.5-7B with AMP on one H100", dtype), "\"float32\"");
  EXPECT_EQ(value_of("LoRA of Qwen2.5-7B, bf16 mixed precision, one H100", dtype), "");
  EXPECT_EQ(value_of("Full fine-tune of Qwen2.5-7B, ZeRO-3, mixed precision, 4x H100", dtype), "");
}

TEST(SaidPlans, SixteenBitsAloneAreSaidOnlyWhereNoCopyInFp32IsHeld) {
  EXPECT_TRUE(tells_that(words_for("Full fine-tune Llama 3.2 3B on an A100 40GB?"), "16 bits alone"));
  EXPECT_FALSE(
      tells_that(words_for("Full fine-tune Llama 3.2 3B with ZeRO-3 on 4x A100 40GB?"), "16 bits alone"));
  EXPECT_FALSE(
      tells_that(words_for("Full fine-tune Llama 3.2 3B with FSDP on 4x A100 40GB?"), "16 bits alone"));
}

TEST(SaidPlans, CardsThatAreComparedAreBothPriced) {
  const SaidRequest one = said("is 2x3090 better than 1x4090 for QLoRA of Qwen2.5-32B, 2048 tokens?");
  ASSERT_EQ(one.cards.size(), 2U);
  EXPECT_EQ(one.cards[0].count, 2);
  EXPECT_EQ(one.cards[1].gpu->id, "rtx-4090");
  EXPECT_EQ(said("QLoRA de Qwen2.5-32B sur une 3090 ou une A6000 ?").cards.size(), 2U);
}

TEST(SaidPlans, APlanReportsNoFailure) {
  for (const char* text : {
           "Would ZeRO-3 with CPU offload let me full fine-tune Qwen2.5-14B on 2x 4090 with 256 GB of RAM?",
           "deepspeed zero3 offload nvme full finetune 70B llama on 4x3090 with 128GB ram",
           "Ich will Qwen2.5-7B voll feintunen auf 2x 3090, passt das?",
           "全参数微调Qwen2.5-7B，不使用梯度检查点，A100 80G",
           "LoRA微调Qwen2.5-7B 不使用梯度检查点 4090 24G 显存够不够",
       }) {
    EXPECT_TRUE(tells_that(told_of(text), R"("messages":[])")) << text;
    EXPECT_TRUE(tells_that(told_of(text), R"("ok":true)")) << text;
  }
}

TEST(SaidPlans, ALineThatTellsOfAFailureReportsIt) {
  for (const char* text : {
           "full finetune Qwen2.5-14B zero3 cpu offload on 2x 4090 with 64GB RAM, process gets killed",
           "LoRA微调Qwen2.5-7B 4090 爆显存",
       }) {
    EXPECT_FALSE(tells_that(told_of(text), R"("messages":[])")) << text;
  }
}

TEST(SaidPlans, WhatADesktopHoldsIsTakenFromTheCard) {
  const char* in_use = "/hardware/in_use_gib";
  EXPECT_EQ(value_of("QLoRA of Llama 3.1 8B on a 4090, 24GB but only 22 free because of the desktop", in_use),
            "2.0");
  EXPECT_EQ(value_of("QLoRA of Llama 3.1 8B on a 4090, 64 GB RAM free", in_use), "");
}

TEST(SaidPlans, WhatIsWeighedIsNotCalledUnsaid) {
  const SaidRequest one = said("Qwen2.5-14B LoRA, bs 1, 4096 ctx, L40S. Can I go to batch 2?");
  for (const run::Missing& miss : one.unknown)
    EXPECT_NE(miss.pointer, "/training/per_device_train_batch_size");
}

TEST(SaidPlans, AModelWithoutASizeInItsNameIsFound) {
  EXPECT_EQ(said("Can I fine-tune bert-base-uncased on a 3060?").model, "bert-base-uncased");
  EXPECT_EQ(said("full fine-tune roberta-large on a T4 batch 16").model, "roberta-large");
  EXPECT_EQ(said("Can I fine-tune SmolVLM on a 3060 12GB with LoRA?").model, "SmolVLM");
  EXPECT_EQ(said("LoRA of ModernBERT-large on a 4090").model, "ModernBERT-large");
  EXPECT_EQ(said("full fine-tune BERT on a T4").model, "google-bert/bert-base-uncased");
  EXPECT_EQ(said("fine-tune distilbert on 8GB").model, "distilbert/distilbert-base-uncased");
  EXPECT_EQ(said("Can I fine-tune an open model on a T4?").model, "");
}

TEST(SaidPlans, AModelThatNobodyKnowsIsNamed) {
  EXPECT_TRUE(tells_that(told_of("Can I fine-tune bge-m4 on a 3060?"), "bge-m4 is no model"));
  EXPECT_TRUE(tells_that(told_of("Can I fine-tune bge-huge on a 3060?"), "bge-huge is no model"));
  EXPECT_EQ(said("Can I train ZeRO-3 with LoRA on a 3060?").unknown_model, "");
}

TEST(SaidPlans, HowManyCardsAreNeededIsCounted) {
  EXPECT_TRUE(tells_that(words_for("How many H100s for full fine-tuning of Llama-3.1-70B"),
                         "The fewest that it fits on is "));
  EXPECT_TRUE(tells_that(words_for("Wie viele 4090 brauche ich für LoRA von Llama-3.2-1B?"), "is enough."));
  EXPECT_FALSE(said("How many tokens fit for LoRA of Llama-3.1-8B on an H100?").asks_how_many);
}

TEST(SaidPlans, ThatExpertsStayUnquantisedIsSaid) {
  EXPECT_TRUE(tells_that(words_for("Mixtral 8x7B QLoRA on an A6000"), "The experts stay unquantised"));
}

TEST(SaidPlans, SoManyCardsOfASizeAreCounted) {
  const char* cards = "/parallel/num_gpus";
  EXPECT_EQ(value_of("Can I QLoRA Llama 3.1 70B with FSDP on 2x 24GB GPUs?", cards), "2");
  EXPECT_EQ(value_of("QLoRA of Llama 3.1 70B on two 24 GB cards", cards), "2");
  EXPECT_EQ(value_of("LoRA von Llama 3.1 8B auf 4 x 48 GB", cards), "4");
  EXPECT_NE(value_of("QLoRA of Llama 3.1 8B on a 24 GB card in a machine with 2x 16GB RAM", cards), "2");
}

TEST(SaidPlans, ARewardModelAndAClassifierAreTasks) {
  EXPECT_EQ(value_of("Training a reward model from Qwen2.5-1.5B on an RTX 4080, batch 8", "/task"),
            "\"reward\"");
  EXPECT_EQ(value_of("Fine-tune Qwen2.5-0.5B for sequence classification on an RTX 3060", "/task"),
            "\"classification\"");
  EXPECT_EQ(value_of("GRPO of Qwen2.5-7B with a reward model on an H100", "/task"), "\"grpo\"");
}

// The count goes over the run that was asked about: ZeRO-3 keeps a master copy on one card, too.
TEST(SaidPlans, TheCountOfCardsIsOfTheSharingThatIsNamed) {
  const char* asked = "how many A100 80GB do I need to full finetune llama 3.1 8b with zero3?";
  EXPECT_FALSE(tells_that(words_for(asked), "is enough."));
  EXPECT_TRUE(tells_that(words_for(asked), "it fits barely."));
}

}  // namespace
}  // namespace plimsoll::question
