// The run of a request, replayed beside the message that it is said to have written.
#include <gtest/gtest.h>

#include "core/report/diagnose.h"
#include "tests/core/explained.h"

namespace plimsoll::diagnosis {
namespace {

// tloen/alpaca-lora#442: Vicuna-7B in 8 bits on a card of 8 GB, dead in prepare_model_for_int8_training.
TEST(Rerun, NamesTheInstantAndTheTensorOfAPublishedFailure) {
  const auto d = explained(
      "  File \"peft/utils/other.py\", line 72, in prepare_model_for_int8_training\n"
      "    param.data = param.data.to(torch.float32)\n"
      "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 500.00 MiB (GPU 0; 7.78 GiB total "
      "capacity; 6.68 GiB already allocated; 495.69 MiB free; 6.71 GiB reserved in total by PyTorch)",
      R"({"model": "llama-7b", "quantization": {"load_in_8bit": true, "prepare_for_kbit_training": true},
          "peft": {"r": 8}, "training": {"per_device_train_batch_size": 4, "max_length": 256}})");
  ASSERT_TRUE(d.reading.rerun.match.has_value());
  EXPECT_EQ(d.reading.rerun.match->at, memory::Phase::prepare);
  EXPECT_EQ(d.reading.rerun.match->bytes, 500.0 * mebibyte);
  EXPECT_EQ(d.reading.rerun.setting, "");
  ASSERT_FALSE(d.causes.empty());
  EXPECT_EQ(d.causes.front().cause->id, "kbit_upcast");
}

constexpr const char* of_a_step =
    "  File \"transformers/models/mistral/modeling_mistral.py\", line 46, in forward\n"
    "    down_proj = self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))\n"
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 112.00 MiB. GPU 0 has a total capacity of "
    "22.06 GiB of which 70.38 MiB is free. Including non-PyTorch memory, this process has 21.98 GiB memory "
    "in use. Of the allocated memory 21.40 GiB is allocated by PyTorch, and 250.00 MiB is reserved by "
    "PyTorch but unallocated.";
constexpr const char* checkpointed =
    R"({"model": "mistral-7b-v0.3", "peft": {"r": 16}, "model_args": {"dtype": "bfloat16"},
        "training": {"bf16": true, "per_device_train_batch_size": 4, "max_length": 1024,
                     "gradient_checkpointing": true}, "hardware": {"gpu": "a10g"}})";

TEST(Rerun, FindsTheSettingThatDidNotTakeEffect) {
  const auto d = explained(of_a_step, checkpointed);
  EXPECT_EQ(d.reading.rerun.setting, "checkpointing_ignored");
  ASSERT_FALSE(d.causes.empty());
  EXPECT_EQ(d.causes.front().cause->id, "checkpointing_not_active");
  ASSERT_NE(d.causes.front().narrower, nullptr);
  EXPECT_EQ(d.causes.front().narrower->id, "checkpointing_ignored");
}

TEST(Rerun, AContradictionIsTheFirstSentenceAndItsExplanationTheSecond) {
  const std::string answer = report::diagnosis_text(of_a_step, checkpointed, "", catalog());
  EXPECT_NE(answer.find(R"("summary":"By the request this run holds at most 16.)"), std::string::npos);
  EXPECT_NE(answer.find("It would be so with gradient checkpointing off."), std::string::npos);
}

// 22.91 GiB are no 4-bit base of 8B, whatever asked for the last 224 MiB.
TEST(Rerun, TheOneSettingThatExplainsAContradictionIsTheCause) {
  const auto d = explained(
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB. GPU 0 has a total capacity "
      "of "
      "23.64 GiB of which 115.38 MiB is free. Including non-PyTorch memory, this process has 23.52 GiB "
      "memory "
      "in use. Of the allocated memory 22.91 GiB is allocated by PyTorch, and 205.12 MiB is reserved by "
      "PyTorch but unallocated.",
      R"({"model": "llama-3.1-8b", "peft": {"r": 16, "target_modules": "all-linear"},
          "quantization": {"load_in_4bit": true}, "hardware": {"gpu": "rtx-4090"},
          "training": {"bf16": true, "per_device_train_batch_size": 1, "max_length": 1024,
                       "gradient_checkpointing": true}})");
  EXPECT_NE(d.reading.rerun.contradiction, "");
  ASSERT_FALSE(d.causes.empty());
  EXPECT_EQ(d.causes.front().cause->id, "bnb_not_applied");
}

// yangjianxin1/Firefly#33: four bits of 7B are no 30.35 GiB; the preparation makes fp32 of what stayed in 16.
TEST(Rerun, WhereNoSettingAloneExplainsAContradictionTheNearestIsNamed) {
  const auto d = explained(
      "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 250.00 MiB (GPU 1; 31.75 GiB total "
      "capacity; 30.35 GiB already allocated; 209.75 MiB free; 30.55 GiB reserved in total by PyTorch)\n"
      "torch._C._nn.cross_entropy_loss",
      R"({"model": "baichuan-inc/Baichuan-7B", "peft": {"r": 64, "target_modules": "all-linear"},
          "quantization": {"load_in_4bit": true}, "hardware": {"gpu": "v100-sxm2-32"},
          "training": {"fp16": true, "per_device_train_batch_size": 1, "max_length": 1024,
                       "gradient_checkpointing": true, "optim": "paged_adamw_32bit"}})");
  EXPECT_NE(d.reading.rerun.explained.find("comes the run with nothing quantised"), std::string::npos);
  ASSERT_GE(d.causes.size(), 2U);
  EXPECT_EQ(d.causes[0].cause->id, "logits_peak");
  EXPECT_EQ(d.causes[1].cause->id, "bnb_not_applied");
}

TEST(Rerun, SaysNothingOfTokensThatNobodyStated) {
  const auto d =
      explained(of_a_step, R"({"model": "mistral-7b-v0.3", "peft": {"r": 16}, "hardware": {"gpu": "a10g"}})");
  EXPECT_EQ(d.reading.rerun.contradiction, "");
  EXPECT_EQ(d.reading.rerun.cause, "");
}

TEST(Rerun, AMessageWithLessThanTheWeightsIsOfAnotherRun) {
  std::string less = of_a_step;
  less.replace(less.find("21.40 GiB is allocated"), 9, "3.20 GiB");
  const auto d = explained(less, checkpointed);
  EXPECT_NE(d.reading.rerun.contradiction.find("before the first step"), std::string::npos);
}

// Of 2 x 4096 tokens the layers alone keep four times what this card has, and yet the loss was reached.
constexpr const char* in_the_loss =
    "  File \"transformers/loss/loss_utils.py\", line 50, in ForCausalLMLoss\n    logits = logits.float()\n"
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.91 GiB. GPU 0 has a total capacity of "
    "23.64 GiB of which 2.10 GiB is free. Including non-PyTorch memory, this process has 21.53 GiB memory in "
    "use. Of the allocated memory 16.90 GiB is allocated by PyTorch, and 4.21 GiB is reserved by PyTorch but "
    "unallocated.";
std::string on_a_4090(std::string_view training) {
  return R"({"model": "llama-3.1-8b", "peft": {"r": 16, "target_modules": "all-linear"},
             "quantization": {"load_in_4bit": true}, "hardware": {"gpu": "rtx-4090"},
             "training": {"bf16": true, "per_device_train_batch_size": 2, )" +
         std::string(training) + "}}";
}

TEST(Rerun, ARunThatGotFurtherThanItsRequestCouldHadCheckpointing) {
  const std::string request = on_a_4090(R"("max_length": 4096)");
  const auto d = explained(in_the_loss, request);
  EXPECT_TRUE(d.reading.rerun.checkpointed);
  EXPECT_NE(d.reading.rerun.contradiction.find("at least"), std::string::npos);
  const std::string answer = report::diagnosis_text(in_the_loss, request, "", catalog());
  EXPECT_NE(answer.find(R"("pointer":"/training/gradient_checkpointing","value":true)"), std::string::npos);
  EXPECT_EQ(answer.find(R"("pointer":"/training/gradient_checkpointing","from")"), std::string::npos)
      << "no plan begins with what was on already";
}

TEST(Rerun, ARunThatGotWhereItsRequestLetsItIsNoContradiction) {
  const auto d = explained(in_the_loss, on_a_4090(R"("max_length": 4096, "gradient_checkpointing": true)"));
  EXPECT_EQ(d.reading.rerun.contradiction, "");
  EXPECT_FALSE(d.reading.rerun.checkpointed);
}

TEST(Rerun, ARunThatGotFurtherWithCheckpointingTooRanAnotherConfiguration) {
  const auto d = explained(in_the_loss, on_a_4090(R"("max_length": 32768, "gradient_checkpointing": true)"));
  EXPECT_NE(d.reading.rerun.contradiction, "");
  EXPECT_NE(d.reading.rerun.explained.find("shorter than the length"), std::string::npos);
}

// In so little room the simulated run ends 4 GiB of bf16 logits earlier, by fragments alone.
TEST(Rerun, MeetsARequestThatTheRealRunGotToInSpiteOfFragments) {
  const auto d = explained(
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 7.83 GiB. GPU 0 has a total capacity of "
      "23.64 GiB of which 2.11 GiB is free. Of the allocated memory 20.98 GiB is allocated by PyTorch, and "
      "100.00 MiB is reserved by PyTorch but unallocated.",
      R"({"model": "llama-3.1-8b", "quantization": {"load_in_4bit": true}, "hardware": {"gpu": "rtx-4090"},
          "peft": {"r": 16, "target_modules": "all-linear"}, "training": {"per_device_train_batch_size": 4,
          "max_length": 4096, "bf16": true, "gradient_checkpointing": true}})");
  ASSERT_TRUE(d.reading.rerun.match.has_value());
  EXPECT_NEAR(d.reading.rerun.match->allocated / gibibyte, 20.98, 0.5);
  EXPECT_EQ(d.causes.front().cause->id, "logits_peak");
}

TEST(Rerun, NeedsARequestThatSaysHowItTrains) {
  EXPECT_FALSE(explained(of_a_step).reading.rerun.played);
  EXPECT_FALSE(explained("it is out of memory", checkpointed).reading.rerun.played);
}

TEST(Rerun, TheRemedyOfTheCauseIsAmongTheChangesOffered) {
  const std::string answer = report::diagnosis_text(
      "  File \"transformers/models/llama/modeling_llama.py\", line 1200, in forward\n"
      "    logits = logits.float()\n"
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 7.83 GiB. GPU 0 has a total capacity of "
      "79.15 GiB of which 1.10 GiB is free. Of the allocated memory 70.80 GiB is allocated by PyTorch, and "
      "310.00 MiB is reserved by PyTorch but unallocated.",
      R"({"model": "llama-3.1-8b", "peft": {"r": 16}, "hardware": {"gpu": "a100-sxm-80"},
          "training": {"per_device_train_batch_size": 16, "max_length": 1024,
                       "gradient_checkpointing": true}})",
      "", catalog());
  const std::size_t remedies = answer.find(R"("remedies":[)");
  ASSERT_NE(remedies, std::string::npos);
  EXPECT_NE(answer.find(R"("fix":"fused_loss")", remedies), std::string::npos);
}

}  // namespace
}  // namespace plimsoll::diagnosis
