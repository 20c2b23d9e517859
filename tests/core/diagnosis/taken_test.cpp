// What a failure itself says of the run that failed, where nobody else does.
#include "core/diagnosis/taken.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/diagnosis/remedies.h"
#include "tests/core/explained.h"

namespace plimsoll::diagnosis {
namespace {

// Of a text alone: its diagnosis, and what it takes of the run.
struct Told {
  question::PastedCase one;
  Diagnosis d;
  std::vector<run::Choice> taken;

  explicit Told(std::string_view text) {
    question::read_case(text, "", "", catalog(), one);
    d = diagnose(one.situation);
    taken = taken_of(one.situation, d.reading);
  }
  json::Json at(std::string_view pointer) const {
    for (const run::Choice& one_of_it : taken) {
      if (one_of_it.pointer == pointer) return one_of_it.value;
    }
    return nullptr;
  }
};

constexpr const char* batch = "/training/per_device_train_batch_size";
constexpr const char* length = "/training/max_length";

// 1002 MiB are 2048 tokens x 128256 words x 4 bytes.
TEST(DiagnosisTaken, TheLengthIsTheOneThatTheFailedSizeIsOf) {
  const Told told(
      "Ich trainiere Llama 3 8B mit QLoRA auf einer RTX 3080 mit 10 GB. Nach etwa 200 Schritten kommt: "
      "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1002.00 MiB (GPU 0; 9.77 GiB total "
      "capacity; 7.90 GiB already allocated; 520.00 MiB free; 8.30 GiB reserved in total by PyTorch)");
  EXPECT_EQ(told.at(batch), 1);
  EXPECT_EQ(told.at(length), 2048);
}

TEST(DiagnosisTaken, WhatIsSaidIsNotTaken) {
  const Told told(
      "QLoRA of Llama 3 8B on an RTX 3080 10GB, batch size 1, sequence length 2048: CUDA out of memory. Tried "
      "to allocate 1002.00 MiB (GPU 0; 9.77 GiB total capacity; 7.90 GiB already allocated; 520.00 MiB free; "
      "8.30 GiB reserved in total by PyTorch)");
  EXPECT_TRUE(told.taken.empty());
}

// 3.91 GiB are 8192 tokens x 128256 words x 4 bytes: four samples of 2048.
TEST(DiagnosisTaken, TheMicroBatchIsTheOneThatTheFailedSizeIsOf) {
  const char* failed =
      ". CUDA out of memory. Tried to allocate 3.91 GiB. GPU 0 has a total capacity of 23.64 GiB of which 2.10 "
      "GiB is free. Of the allocated memory 20.90 GiB is allocated by PyTorch, and 210.00 MiB is reserved by "
      "PyTorch but unallocated.";
  const Told told(std::string("QLoRA of Llama 3.1 8B on a 4090, max length 2048") + failed);
  ASSERT_EQ(told.taken.size(), 1U);
  EXPECT_EQ(told.at(batch), 4);
  EXPECT_TRUE(told.taken[0].proven);
  // Of no whole number of samples it proves none.
  const Told odd(std::string("QLoRA of Llama 3.1 8B on a 4090, max length 3000") + failed);
  ASSERT_FALSE(odd.taken.empty());
  EXPECT_FALSE(odd.taken[0].proven);
}

TEST(DiagnosisTaken, ALengthThatNothingNamesIsTheShortestThatIsTooMuch) {
  const Told told(
      "LoRA of Llama 3 8B on an RTX 3090, batch size 2: CUDA out of memory. Tried to allocate 112.00 MiB (GPU "
      "0; 23.69 GiB total capacity; 22.60 GiB already allocated; 60.00 MiB free; 22.80 GiB reserved in total "
      "by PyTorch)");
  EXPECT_EQ(told.at(batch), nullptr);
  ASSERT_TRUE(told.at(length).is_number());
  EXPECT_EQ(told.at(length).get<uint64_t>() % 256, 0U);
  EXPECT_LT(told.at(length).get<uint64_t>(), 4096U);
}

constexpr const char* of_a_state =
    "Full fine-tuning of Mistral 7B on A100 80GB with adamw. The first forward and backward pass work, then:\n"
    "    state[\"exp_avg_sq\"] = torch.zeros_like(\n"
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB. GPU 0 has a total capacty "
    "of 79.15 GiB of which 130.25 MiB is free.";

// 224 MiB are 14336 x 4096 x 4 bytes; 7.24e9 parameters of 16 bytes are 107.9 GiB.
TEST(DiagnosisTaken, AStateInFp32SaysThatTheWeightsAreHeldSo) {
  const Told told(of_a_state);
  EXPECT_EQ(told.at("/model_args/dtype"), "float32");
  ASSERT_FALSE(told.d.causes.empty());
  EXPECT_EQ(told.d.causes.front().cause->id, "optimizer_states_first_step");
  EXPECT_NEAR(told.d.reading.facts.whole / gibibyte, 107.9, 0.2);
  EXPECT_THAT(told.d.causes.front().shown, testing::Contains(testing::HasSubstr("16 bytes a parameter")));
  const auto offered = remedies_of("optimizer_states_first_step");
  EXPECT_NE(std::find(offered.begin(), offered.end(), "pure_bfloat16"), offered.end());
}

TEST(DiagnosisTaken, AStateIn16BitsSaysNothingOfTheKind) {
  std::string text = of_a_state;
  text.replace(text.find("224.00"), 6, "112.00");
  const Told told(text);
  EXPECT_FALSE(states_are_fp32(told.d.reading));
  EXPECT_EQ(told.at("/model_args/dtype"), nullptr);
}

TEST(DiagnosisTaken, NothingOnTheCardHelpsTheMachinesRam) {
  EXPECT_FALSE(is_helped_on_the_card(explained("exits with return code = -9").reading));
  EXPECT_TRUE(is_helped_on_the_card(explained(of_a_state).reading));
}

// Its steps ran, so that no length is taken that is too much for one.
TEST(DiagnosisTaken, AnEvaluationThatJoinsAllLogitsIsOneForMetrics) {
  const Told told(
      "LoRA of Mistral-7B-Instruct-v0.3 on an A100 40GB\n  File \"transformers/trainer_pt_utils.py\", line 102, in "
      "torch_pad_and_concatenate\n    return torch.cat((tensor1, tensor2), dim=0)\ntorch.OutOfMemoryError: CUDA "
      "out of memory. Tried to allocate 7.81 GiB. GPU 0 has a total capacity of 39.39 GiB of which 5.12 GiB is free. "
      "Of the allocated memory 32.71 GiB is allocated by PyTorch, and 1.02 GiB is reserved by PyTorch but "
      "unallocated.");
  EXPECT_EQ(told.at("/training/eval_strategy"), "steps");
  EXPECT_EQ(told.at("/training/compute_metrics"), true);
  EXPECT_GT(told.at("/data/eval_samples"), 8);
  EXPECT_EQ(told.at(length), nullptr);
}

TEST(DiagnosisTaken, ASaveSaysNothingOfTheLength) {
  const Told told(
      "LoRA of Llama 3 8B on an A100 40GB\n  File \"peft/peft_model.py\", line 313, in save_pretrained\n    "
      "output_state_dict = get_peft_model_state_dict(\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate "
      "1002.00 MiB. GPU 0 has a total capacity of 39.39 GiB of which 0.50 GiB is free. Of the allocated memory 38.00 "
      "GiB is allocated by PyTorch, and 0.10 GiB is reserved by PyTorch but unallocated.");
  EXPECT_EQ(told.d.reading.phase, FailurePhase::save);
  EXPECT_EQ(told.at(length), nullptr);
}

}  // namespace
}  // namespace plimsoll::diagnosis
