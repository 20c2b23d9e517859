// What people say around an error when they show little of it: cards, releases, moments and methods, each in
// words of our own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/diagnosis/facts_said.h"
#include "core/diagnosis/text.h"
#include "tests/core/explained.h"

namespace plimsoll::diagnosis {
namespace {

double cards(std::string_view text) { return cards_counted(text).value_or(1); }
Facts facts_of(std::string_view text) { return explained(text).reading.facts; }

TEST(DiagnosisSaid, CardsAreCountedBehindTheirNameAndInWords) {
  EXPECT_EQ(cards("an A100 80G * 2 machine"), 2);
  EXPECT_EQ(cards("V100 (32g) x 4 in one node"), 4);
  EXPECT_EQ(cards("it runs on one and dies on a double GPU"), 2);
  EXPECT_EQ(cards("four RTX 3090 cards"), 4);
  EXPECT_EQ(cards("dual 4090"), 2);
  // every card that is known, and no hand's list of some
  EXPECT_EQ(cards("8 L4"), 8);
  EXPECT_EQ(cards("we have 4 RTX 3060 and 2 P40"), 4);
  EXPECT_EQ(cards("six MI300 in a machine"), 6);
  EXPECT_EQ(cards("pictures of 2 x 1080p, and 2 6000 tokens"), 1);
  // gigabytes and sizes are no counts
  EXPECT_EQ(cards("for owners of 24 GB GPUs"), 1);
  EXPECT_EQ(cards("an A100 * 40GB"), 1);
}

TEST(DiagnosisSaid, WhoHasAMacBookProHasNoRtxPro) {
  EXPECT_DOUBLE_EQ(facts_of("OOM in LoRA of a 7B on Colab Pro").capacity, 0);
  EXPECT_FALSE(is_named(*catalog().find_gpu("rtx-pro-6000-ws"), "lora on a macbook pro"));
  EXPECT_TRUE(is_named(*catalog().find_gpu("rtx-pro-6000-ws"), "lora on an rtx pro 6000"));
}

// Who names no method has said packing, a rank and the cards all the same.
TEST(DiagnosisSaid, WhatTheTextSaysIsKnownOfEveryField) {
  EXPECT_EQ(facts_of("OOM of Qwen2.5-7B with packing on a 4090").packing, true);
  EXPECT_EQ(facts_of("LoRA with rank 256 runs out of memory").rank, 256);
  EXPECT_EQ(facts_of("OOM even with flash attention").attention, "flash_attention_2");
  const Diagnosis d = explained("OOM of Qwen2.5-7B with packing on a 4090");
  EXPECT_TRUE(std::any_of(d.causes.begin(), d.causes.end(),
                          [](const Named& one) { return one.cause->id == "packing_interaction"; }));
}

TEST(DiagnosisSaid, WhatElseCouldBeDoneIsNotWhatWasDone) {
  EXPECT_EQ(facts_of("OOM in full fine-tuning of a 70B model on 8 x A100. Is LoRA the only way?").method,
            Method::full);
}

TEST(DiagnosisSaid, ANameBesideTheFiguresSaysHowLargeTheModelIs) {
  constexpr std::string_view line =
      "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 MiB (GPU 0; 23.50 GiB total "
      "capacity; 23.10 GiB already allocated; 2.00 MiB free; 23.10 GiB reserved in total by PyTorch)";
  EXPECT_EQ(first_cause("Training Llama-2-13b on a card of 24 GB.\n" + std::string(line)),
            "does_not_fit_at_all");
}

TEST(DiagnosisSaid, WeightsInFp32AreSaidInManyWays) {
  EXPECT_EQ(first_cause("the model is loaded in fp32 by default and runs out of memory"), "fp32_by_mistake");
  EXPECT_FALSE(facts_of("OOM: the optimizer holds fp32 states of the model").fp32);
}

TEST(DiagnosisSaid, WithoutAFlashKernelScoresAreKept) {
  EXPECT_EQ(first_cause("still out of memory, my card does not support flash attention"),
            "eager_attention_quadratic");
  EXPECT_NE(facts_of("OOM even with flash attention").attention, "eager");
}

TEST(DiagnosisSaid, TwoReleasesAndWhatCameOfTheChange) {
  // a list of what is installed
  EXPECT_EQ(first_cause("The same script ran out of memory today. With an earlier commit there was no OOM."),
            "regression_in_library");
}

TEST(DiagnosisSaid, AnEvaluationASaveAndAResumeAreSaidInManyWays) {
  EXPECT_EQ(first_cause("Every validation blows up with OOM while the steps before it are fine"),
            "eval_accumulates_logits");
  EXPECT_EQ(first_cause("OOM: predictions of the whole validation set are concatenated on the card"),
            "eval_accumulates_logits");
  EXPECT_EQ(first_cause("out of memory as soon as the state dict is gathered, save_pretrained crashes"),
            "resume_or_save_peak");
  EXPECT_EQ(first_cause("OOM after I load the optimizer. A fresh run is fine, with the same batch."),
            "resume_or_save_peak");
  EXPECT_NE(first_cause("I use a fused loss to save memory and still get OOM"), "resume_or_save_peak");
  EXPECT_NE(first_cause("OOM when I evaluate the finished model with lm-eval"), "eval_accumulates_logits");
}

TEST(DiagnosisSaid, PiecesAndALargeCacheAreFragmentation) {
  EXPECT_EQ(first_cause("OOM although half is free: the memory seems to be heavily fragmented"),
            "fragmentation");
  EXPECT_EQ(first_cause("out of memory, the reserved memory is far larger than what is allocated"),
            "fragmentation");
  // the hint of every message is no finding
  EXPECT_NE(first_cause("CUDA out of memory. If reserved but unallocated memory is large try setting "
                        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation."),
            "fragmentation");
}

TEST(DiagnosisSaid, WhoAsksWhatItTakesHasTooLittle) {
  EXPECT_EQ(first_cause("OOM with a T4. How much VRAM does fine-tuning this need?"), "does_not_fit_at_all");
  EXPECT_EQ(first_cause("单卡爆显存，请问微调至少需要多大显存的卡"), "does_not_fit_at_all");
}

TEST(DiagnosisSaid, ASmallerBatchThatWorksSaysThatTokensWereTooMany) {
  EXPECT_EQ(first_cause("OOM at first; reducing the batch size to 2 solved it"),
            "batch_or_sequence_too_large");
}

// A title that ends with its figure is no line that a terminal broke.
TEST(DiagnosisSaid, AFigureAtTheEndOfALineIsRead) {
  const Diagnosis d = explained(
      "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 412.00 MiB\nI train GPT-J.");
  ASSERT_NE(d.reading.message(), nullptr);
  ASSERT_TRUE(d.reading.message()->numbers.tried.has_value());
  EXPECT_NEAR(d.reading.message()->numbers.tried->bytes / mebibyte, 412, 1e-9);
}

// Quotes of a sentence end with a whole character, wherever it is cut.
TEST(DiagnosisSaid, QuotesOfChineseSentencesAreWholeCharacters) {
  EXPECT_EQ(whole_characters("\xE6\x98"), "");
  EXPECT_EQ(whole_characters("a\xE6\x98\xAF\xE6"), "a\xE6\x98\xAF");
  std::string text = "显存不足，出现OOM的时间不固定，有时是200步，有时是1000步";
  for (int more = 0; more < 40; ++more) {
    text += more % 3 == 0 ? "一" : "a";
    for (const Evidence& e : collect(explained(text).reading, Situation{}))
      EXPECT_EQ(whole_characters(e.words), e.words) << text;
  }
}

// Of one quoted frame and a sentence about another moment, the frame says where it died.
TEST(DiagnosisSaid, AQuotedFrameOutweighsASentence) {
  EXPECT_EQ(phase_of("The issue comes up right after the rollout stage of the first step is done, always.\n"
                     "  File \"/torch/nn/modules/linear.py\", line 125, in forward\n"
                     "    return F.linear(input, self.weight, self.bias)\n"
                     "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB."),
            FailurePhase::forward);
}

// DeepSpeed moves the model before it makes an optimizer.
TEST(DiagnosisSaid, AModelThatDoesNotReachTheCardHasNoOptimizerYet) {
  EXPECT_NE(first_cause("  File \"train.py\", line 3, in main\n"
                        "    engine, _, _, _ = deepspeed.initialize(args=args, model=model)\n"
                        "  File \"deepspeed/runtime/engine.py\", line 1103, in _configure_distributed_model\n"
                        "    self.module.to(self.device)\n"
                        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB."),
            "optimizer_states_first_step");
}

// ZeRO-2 leaves the weights whole, which is no trouble where they are small.
// meta-pytorch/torchtune#2830: the samples were long, the loss only came last.
TEST(DiagnosisSaid, WhereAStepFailedIsNotWhy) {
  const auto d = explained(
      "  File \"recipes/full_finetune_single_device.py\", line 700, in train\n"
      "    current_loss = self._loss_step(batch)\n"
      "torch.OutOfMemoryError: CUDA out of memory.");
  ASSERT_FALSE(d.causes.empty());
  EXPECT_LE(d.causes.front().confidence, 0.7);
}

// hiyouga/LlamaFactory#1970: "fine-tuning" alone says nothing of gradients and states.
TEST(DiagnosisSaid, AMethodThatNobodyStatedIsNoEvidence) {
  const auto d = explained(
      "RTX4090双卡 Baichuan2-13B-Chat微调内存不足\n"
      "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 50.00 MiB (GPU 0; 23.65 GiB total "
      "capacity; 23.12 GiB already allocated; 8.06 MiB free; 23.12 GiB reserved in total by PyTorch)");
  ASSERT_FALSE(d.causes.empty());
  EXPECT_EQ(d.causes.front().cause->id, "replicated_not_sharded");
  EXPECT_TRUE(d.reading.facts.method_assumed);
}

TEST(DiagnosisSaid, CopiesThatAreSmallAreNotWhatIsTooMuch) {
  EXPECT_NE(first_cause("full fine-tuning of a 7B model, 8 x A100 80GB, zero2, OOM"),
            "replicated_not_sharded");
}

// The diagnosis knows of the run what the text becomes as a request, and has no second reading of its own.
TEST(DiagnosisSaid, TheRunIsWhatTheTextSaysAsARequest) {
  const Facts facts = facts_of(
      "OOM: full fine-tuning of Llama 3.1 8B with ZeRO-3 on 4 A100 80GB, batch size of 64, context length: "
      "32k, without gradient checkpointing");
  EXPECT_EQ(facts.batch, 64);
  EXPECT_EQ(facts.length, 32768);
  EXPECT_EQ(facts.strategy, "zero3");
  EXPECT_EQ(facts.checkpointing, false);
  EXPECT_EQ(facts.method, Method::full);
  EXPECT_FALSE(facts.method_assumed);
  EXPECT_EQ(facts_of("phi-4 QLoRA with packing is OOM").quantization, "4bit");
  EXPECT_EQ(facts_of("DPO of Mistral 7B dies, out of memory").task, "dpo");
}

TEST(DiagnosisSaid, LayersThatOneProcessSpreadsAreNoCopies) {
  const auto d = explained(
      "Loading Mixtral 8x7B in 4bit on two 3090s with device_map auto, OOM while loading the last shards");
  ASSERT_FALSE(d.causes.empty());
  for (const auto& named : d.causes) {
    EXPECT_NE(named.cause->id, "replicated_not_sharded");
    EXPECT_NE(named.cause->id, "sharding_load_peak");
  }
}

// Words alone are no finding where they speak of something else.
TEST(DiagnosisSaid, WhatIsSaidOfSomethingElseIsNoFinding) {
  EXPECT_NE(
      first_cause("CUDA out of memory. Tried to allocate 92.00 MiB (GPU 0; 24.00 GiB total capacity; 23.00 "
                  "GiB already allocated; 10.00 MiB free; 23.10 GiB reserved in total by PyTorch)"),
      "single_gpu_used");
  EXPECT_NE(first_cause("OOM in the first few steps of a 7B LoRA"), "long_outlier_sequences");
  EXPECT_NE(first_cause("I have 64GB RAM and a 24GB card, out of memory"), "host_ram");
  EXPECT_NE(first_cause("OOM with transformers 4.44.2, torch 2.4.0"), "regression_in_library");
  EXPECT_NE(first_cause("OOM with gradient accumulation: I append each micro-batch's gradient"),
            "growth_over_steps");
}

}  // namespace
}  // namespace plimsoll::diagnosis
