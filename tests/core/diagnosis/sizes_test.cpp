// Sums that an answer makes: how much a card had, what its part of a run is, what others could not give.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/report/diagnose.h"
#include "tests/core/explained.h"

namespace plimsoll::diagnosis {
namespace {

// The words are those of pytorch c10/cuda/CUDAMallocAsyncAllocator.cpp, mallocAsync.
constexpr const char* of_cudas_own_pool =
    "torch.OutOfMemoryError: Allocation on device 0 would exceed allowed memory. (out of memory)\n"
    "Currently allocated     : 22.01 GiB\nRequested               : 1.96 GiB\n"
    "Device limit            : 23.99 GiB\nFree (according to CUDA): 27.19 MiB\n"
    "PyTorch limit (set by user-supplied memory fraction)\n"
    "                        : 17179869184.00 GiB\n";

TEST(DiagnosisSizes, ADeviceLimitIsWhatTheCardHasAndNotWhatIsFree) {
  const Diagnosis d = explained(of_cudas_own_pool);
  ASSERT_EQ(d.reading.messages.size(), 1U);
  const Numbers& n = d.reading.messages[0].numbers;
  ASSERT_TRUE(n.tried && n.capacity && n.free && n.allocated);
  EXPECT_DOUBLE_EQ(n.tried->bytes, 1.96 * gibibyte);
  EXPECT_DOUBLE_EQ(n.capacity->bytes, 23.99 * gibibyte);
  EXPECT_DOUBLE_EQ(n.free->bytes, 27.19 * mebibyte);
  EXPECT_DOUBLE_EQ(n.allocated->bytes, 22.01 * gibibyte);
  EXPECT_FALSE(n.limit) << "2^64 bytes is no limit";
  EXPECT_FALSE(d.reading.messages[0].cut_off);
  for (const Named& named : d.causes) EXPECT_NE(named.cause->id, "windows_sysmem_fallback");
}

TEST(DiagnosisSizes, TheFirstWordsOfAnErrorOfCudasOwnPoolAreEnough) {
  const Diagnosis d = explained(
      "torch.OutOfMemoryError: Allocation on device \n"
      "This error means you ran out of memory on your GPU.");
  ASSERT_EQ(d.reading.messages.size(), 1U);
  EXPECT_EQ(d.reading.messages[0].family->id, "pytorch_async_pool");
}

// Of 14.77e9 parameters (Qwen2.5-14B's model card) 2 bytes each are 27.5 GiB, and of the 138e6 of rank 32 on all linear
// layers 16 bytes each are 2.05; two cards hold half of that each.
TEST(DiagnosisSizes, WhatARunDividesIsDividedByItsCardsOnce) {
  for (const char* sharded : {"DeepSpeed ZeRO-3", "FSDP"}) {
    const Diagnosis d = explained(
        "I fine-tune Qwen2.5-14B on two RTX 4090, LoRA rank 32, batch size 2, length 4096, bf16, " +
        std::string(sharded) +
        ", after a few steps:\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.64 GiB. GPU 1 "
        "has a total capacity of 23.64 GiB of which 2.32 GiB is free.");
    EXPECT_NEAR(d.reading.facts.whole / gibibyte, 29.55, 0.1) << sharded;
    EXPECT_NEAR(d.reading.facts.share / gibibyte, 14.78, 0.05) << sharded;
  }
}

// ZeRO-2 leaves the weights whole and divides gradients, the fp32 copy and both states: 2 + 14/4 bytes a parameter.
TEST(DiagnosisSizes, WhatZero2LeavesWholeIsNotDivided) {
  const Diagnosis d =
      explained("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.94 GiB.",
                R"({"model": "mistral-7b-v0.3", "parallel": {"num_gpus": 4, "strategy": "zero2"},
          "training": {"bf16": true, "per_device_train_batch_size": 1, "max_length": 1024}})");
  const double parameters = 7.248e9;
  EXPECT_NEAR(d.reading.facts.share / parameters, 2 + 14.0 / 4, 0.6);
  EXPECT_NEAR(d.reading.facts.whole / parameters, 16, 2);
}

// An unseen report of 112: its first words were cut off.
TEST(DiagnosisSizes, FiguresWithoutTheirFirstWordsAreTheAllocators) {
  const Diagnosis d = explained(
      "(GPU 0; 15.75 GiB total capacity; 79.11 MiB already allocated; 3.06 MiB free; 86.00 MiB reserved in total "
      "by PyTorch)");
  ASSERT_EQ(d.reading.messages.size(), 1U);
  const Message& message = d.reading.messages[0];
  EXPECT_EQ(message.family->id, "pytorch_allocator");
  EXPECT_EQ(message.gpu, 0);
  EXPECT_FALSE(message.numbers.tried);
  ASSERT_TRUE(message.numbers.capacity && message.numbers.allocated && message.numbers.free);
  EXPECT_DOUBLE_EQ(message.numbers.capacity->bytes, 15.75 * gibibyte);
  EXPECT_DOUBLE_EQ(message.numbers.allocated->bytes, 79.11 * mebibyte);
  EXPECT_DOUBLE_EQ(message.numbers.free->bytes, 3.06 * mebibyte);
  ASSERT_FALSE(d.causes.empty());
  EXPECT_EQ(d.causes[0].cause->id, "other_process");
  for (const Evidence& e : d.evidence) EXPECT_NE(e.sign, Sign::one_card_only);
  const Diagnosis sentences = explained(
      "GPU 0 has a total capacity of 79.25 GiB of which 115.38 MiB is free. Of the allocated memory 77.42 GiB is "
      "allocated by PyTorch, and 761.45 MiB is reserved by PyTorch but unallocated.");
  ASSERT_EQ(sentences.reading.messages.size(), 1U);
  EXPECT_TRUE(sentences.reading.messages[0].numbers.allocated);
}

// 9.3 GiB / 4 / 152,064 are 16,418 tokens.
TEST(DiagnosisSizes, ASizeThatIsSaidInWordsHasItsReadings) {
  for (const char* text : {"My fine-tune of Qwen2.5-7B died, it was asking for about 9.3 GB",
                           "OOM with Qwen2.5-7B, LoRA, it tried to allocate 9.3 GB on my A100"}) {
    const Diagnosis d = explained(text);
    ASSERT_FALSE(d.reading.products.empty()) << text;
    EXPECT_EQ(d.reading.products.front().tensor, "logits") << text;
    EXPECT_NEAR(d.reading.products.front().tokens, 16418, 100) << text;
  }
  EXPECT_TRUE(
      explained("OOM with Qwen2.5-7B, 22 GB are allocated on my 24 GB card").reading.products.empty());
}

TEST(DiagnosisSizes, ASizeThatIsSaidInWordsSpeaksForItsTensorAndIsNoCard) {
  const std::string text = "LoRA of Qwen2.5-7B crashed, it was asking for about 9.3 GB";
  EXPECT_EQ(first_cause(text), "logits_peak");
  EXPECT_THAT(report::diagnosis_text(text, "", "", catalog()), testing::Not(testing::HasSubstr("card of 9")));
}

// 9 GiB / 4 / 152,064 are 15,888 tokens, give or take 883: 16,384 is what somebody would set.
TEST(DiagnosisSizes, TheOneCountOfTokensThatSomebodyWouldSetIsNamed) {
  for (const char* size : {"9.3 GB", "9 GB"}) {
    EXPECT_THAT(
        report::diagnosis_text("LoRA of Qwen2.5-7B crashed, it was asking for about " + std::string(size), "",
                               "", catalog()),
        testing::HasSubstr("16,384 tokens x 152,064 words of the vocabulary, fp32. "))
        << size;
  }
}

// 4 x 1,024 x 128,256 bytes are 501 MiB, for which the allocator asks 502 of the driver.
TEST(DiagnosisSizes, WithoutAModelASmallSizeIsThatOfLogitsOfACommonVocabulary) {
  const Diagnosis d = explained("CUDA out of memory. Tried to allocate 502.00 MiB");
  ASSERT_FALSE(d.reading.products.empty());
  EXPECT_EQ(d.reading.products.front().words, "1,024 tokens x 128,256 words of the vocabulary, fp32");
}

// 4 x 4,096 x 14,336 = 2 x 8,192 x 14,336 = 224 MiB.
TEST(DiagnosisSizes, WithoutAModelASizeIsAWeightOrAnActivationOfAUsualOne) {
  const std::string error =
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB. GPU 0 has a total capacity of "
      "79.25 GiB of which 115.38 MiB is free.";
  const auto words_of = [](const Diagnosis& d) {
    std::vector<std::string> out;
    for (const Product& one : d.reading.products) out.push_back(one.tensor + ": " + one.words);
    return out;
  };
  const char* const weight = "weight: a weight of the MLP, 4,096 x 14,336, fp32";
  const char* const values = "mlp: 8,192 tokens x 14,336 columns of the MLP, 16-bit";
  EXPECT_THAT(words_of(explained(error)), testing::IsSupersetOf({weight, values}));
  const auto framed = words_of(
      explained("  File \"/lib/transformers/models/llama/modeling_llama.py\", line 157, in forward\n"
                "    down_proj = self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))\n" +
                error));
  ASSERT_FALSE(framed.empty());
  EXPECT_EQ(framed.front(), values);
  EXPECT_TRUE(explained("CUDA out of memory. Tried to allocate 226.00 MiB").reading.products.empty());
}

// 978 MiB was an embedding of xlm-roberta-large, 250,002 words, in a run that reads no word.
TEST(DiagnosisSizes, ATracebackOfImagesAloneNamesNoVocabulary) {
  const std::string out =
      "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 978.00 MiB. GPU 0 has a total capacity of "
      "10.75 GiB of which 500.00 MiB is free. Of the allocated memory 9.00 GiB is allocated by PyTorch\n";
  const std::string frames =
      "  File \"site-packages/timm/models/vision_transformer.py\", line 165, in forward\n";
  EXPECT_FALSE(explained(out).reading.products.empty());
  EXPECT_FALSE(explained(out).reading.matches.empty());
  EXPECT_TRUE(explained(frames + out).reading.products.empty());
  EXPECT_TRUE(explained(frames + out).reading.matches.empty());
}

}  // namespace
}  // namespace plimsoll::diagnosis
