// What reports say in words: when it happened, on how many cards; and messages that a terminal broke.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/diagnosis/progress.h"
#include "core/diagnosis/prose_signs.h"
#include "tests/core/explained.h"

namespace plimsoll::diagnosis {
namespace {

// modelscope/ms-swift#2044: the first line has a rank, its continuation has none, and a number was broken.
TEST(DiagnosisMoment, AMessageThatATerminalBrokeInsideANumberIsReadWhole) {
  const Diagnosis d = explained(
      "[rank1]:     per_token_logps = torch.gather(logits.log_softmax(-1), dim=2, "
      "index=labels.unsqueeze(2))\n"
      "[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 8.36 GiB. GPU 1 has a total "
      "capacity of 47.50 GiB of which 1.52 GiB is free. Including non-PyTorch memory, this process has 45.97 "
      "GiB memory in use. Of the allocated memory 4\n"
      "0.30 GiB is allocated by PyTorch, and 4.91 GiB is reserved by PyTorch but unallocated.\n"
      "[rank6]: Traceback (most recent call last):\n"
      "[rank6]:   File \"rlhf.py\", line 5, in <module>\n"
      "[rank6]:     rlhf_main()\n"
      "[rank6]:   File \"run_utils.py\", line 32, in x_main\n");
  ASSERT_NE(d.reading.message(), nullptr);
  const Numbers& n = d.reading.message()->numbers;
  ASSERT_TRUE(n.allocated && n.unallocated);
  EXPECT_NEAR(n.allocated->bytes / gibibyte, 40.30, 1e-6);
  EXPECT_NEAR(n.unallocated->bytes / gibibyte, 4.91, 1e-6);
  EXPECT_EQ(d.reading.phase, FailurePhase::loss);
  ASSERT_FALSE(d.causes.empty());
  EXPECT_EQ(d.causes[0].cause->id, "logits_peak");
}

TEST(DiagnosisMoment, ALineBrokenAtABlankKeepsItsBlank) {
  const Diagnosis d = explained(
      "[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
      "capacity of 79.15 GiB of which 1.00 GiB is free. Of the allocated\n"
      "memory 70.25 GiB is allocated by PyTorch, and 512.00 MiB is reserved by PyTorch but unallocated.");
  ASSERT_NE(d.reading.message(), nullptr);
  ASSERT_TRUE(d.reading.message()->numbers.allocated);
  EXPECT_NEAR(d.reading.message()->numbers.allocated->bytes / gibibyte, 70.25, 1e-6);
}

FailurePhase phase_in_words(std::string_view words) {
  const Text text = clean(words);
  return phase_in_words(text.folded_lines, read_prose(text.folded_lines));
}

TEST(DiagnosisMoment, WordsNameThePhaseWhereNoFrameDoes) {
  EXPECT_EQ(phase_in_words("this error during the fine-tuning evaluation phase"), FailurePhase::eval);
  EXPECT_EQ(phase_in_words("OOM error when saving state_dict"), FailurePhase::save);
  EXPECT_EQ(phase_in_words("whenever I try it fails when resuming the run"), FailurePhase::load);
  EXPECT_EQ(phase_in_words("shard 18 of 19"), FailurePhase::load);
  EXPECT_EQ(phase_in_words("save_steps: 500\nevaluation_strategy: steps"), FailurePhase::unknown);
  EXPECT_EQ(phase_in_words("40 training data and 4 validation data"), FailurePhase::unknown);
}

TEST(DiagnosisMoment, CardsAreCountedInFlagsAndInProse) {
  const auto cards = [](std::string_view text) { return cards_counted(text).value_or(0); };
  EXPECT_EQ(cards("torchrun --nproc_per_node 8 train.py"), 8);
  EXPECT_EQ(cards("CUDA_VISIBLE_DEVICES=0,1,2,3 deepspeed train.py"), 4);
  EXPECT_EQ(cards("deepspeed --include localhost:4,5,6,7 --master_port 1"), 4);
  EXPECT_EQ(cards("8卡V100 32G全量微调"), 8);
  EXPECT_EQ(cards("on 4 x A100 and then 8*A800"), 8);
  EXPECT_EQ(cards("[rank5]: OutOfMemoryError"), 6);
  EXPECT_EQ(cards("one RTX 3090 with 24 GB"), 0);
}

// hiyouga/LlamaFactory#1158: 12.94 GiB are the 13.9e9 parameters of Baichuan2-13B in fp32 by four cards.
TEST(DiagnosisMoment, AFlatFp32ShareOfAllParametersIsDeepSpeeds) {
  const Diagnosis d = explained(
      "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 12.94 GiB (GPU 1; 79.35 GiB total "
      "capacity; 77.65 GiB already allocated; 316.12 MiB free; 77.66 GiB reserved in total by PyTorch)",
      R"({"model": "baichuan-inc/Baichuan2-13B-Chat", "parallel": {"num_gpus": 4, "strategy": "zero2"},
          "training": {"bf16": true, "per_device_train_batch_size": 1, "max_length": 1536}})");
  ASSERT_FALSE(d.reading.matches.empty());
  EXPECT_EQ(d.reading.matches.front().kind, TensorKind::partition);
  EXPECT_EQ(d.causes.front().cause->id, "optimizer_states_first_step");
}

TEST(DiagnosisMoment, APowerOfTwoOfGibibytesSpeaksForAttentionScores) {
  const Diagnosis d = explained(
      "CUDA out of memory. Tried to allocate 32.00 GiB (GPU 6; 79.20 GiB total capacity; 54.76 GiB already "
      "allocated; 22.56 GiB free; 55.44 GiB reserved in total by PyTorch)");
  ASSERT_FALSE(d.causes.empty());
  EXPECT_EQ(d.causes[0].cause->id, "eager_attention_quadratic");
}

// allenai/open-instruct#393: "another Llama 2 7B ... each with 94 GB of memory" are no figures of a message.
TEST(DiagnosisMoment, ProseAroundTheWordsIsNoFigure) {
  const Text text = clean(
      "CUDA out of memory during PPO training. I train another Llama 2 7B model using 4 H100 gpus each with "
      "94 "
      "GB of memory and 128gb of RAM.");
  const std::vector<Message> messages = read_messages(text);
  ASSERT_FALSE(messages.empty());
  EXPECT_FALSE(messages[0].numbers.tried);
  EXPECT_FALSE(messages[0].numbers.capacity);
}

// unslothai/unsloth#3373: a quarter of the parameters is no adapter.
TEST(DiagnosisMoment, TheShareThatATrainerPrintsTellsOfEmbeddings) {
  const Diagnosis d = explained(
      "Trainable parameters = 1,361,753,856 of 5,661,833,328 (24.05% trained)\nOutOfMemoryError: CUDA out of "
      "memory.");
  ASSERT_FALSE(d.causes.empty());
  EXPECT_EQ(d.causes[0].cause->id, "modules_to_save");
  const Diagnosis small =
      explained("trainable%: 0.0622\nOutOfMemoryError: CUDA out of memory.", R"({"peft": {"r": 8}})");
  ASSERT_FALSE(small.causes.empty());
  EXPECT_NE(small.causes[0].cause->id, "modules_to_save");
}

TEST(DiagnosisMoment, FramesOfStateDictsAndOfDeepSpeedsStatesAreKnown) {
  const auto phase = [](std::string_view text) { return explained(text).reading.phase; };
  EXPECT_EQ(phase("File \"bitsandbytes/nn/modules.py\", line 336, in _save_to_state_dict\n"
                  "self.weight.data = undo_layout(self.state.CxB, self.state.tile_indices)\n"
                  "torch.cuda.OutOfMemoryError: CUDA out of memory."),
            FailurePhase::save);
  EXPECT_EQ(phase("  File \"deepspeed_zero_optimizer.py\", line 333, in __init__\n"
                  "    self.initialize_optimizer_states()\nRuntimeError: CUDA out of memory."),
            FailurePhase::optimizer);
}

TEST(DiagnosisMoment, AnExitCodeOfMinusNineIsTheHosts) {
  for (const char* text : {"exitcode -9", "flips out with error code -9", "exits with return code = -9"}) {
    const Diagnosis d = explained(text);
    ASSERT_FALSE(d.causes.empty()) << text;
    EXPECT_EQ(d.causes[0].cause->id, "host_ram") << text;
  }
}

TEST(DiagnosisMoment, AFullMemoryIsAFailureInGermanAsWell) {
  EXPECT_EQ(first_cause("Qwen2.5-7B LoRA, beim Speichern des Checkpoints läuft der Speicher voll"),
            "resume_or_save_peak");
  EXPECT_EQ(
      first_cause("Qwen2.5-7B LoRA auf einer RTX 4090, beim Mergen des Adapters ist der GPU-Speicher voll"),
      "merge_peak");
}

TEST(DiagnosisMoment, StepsThatRanAreCountedBeforeTheirWord) {
  for (const char* text : {"LoRA, nach etwa 300 Schritten CUDA out of memory", "LoRA, 训练到一半显存不足",
                           "LoRA, 跑了300步显存不足", "LoRA, CUDA out of memory after 300 steps"}) {
    EXPECT_EQ(first_cause(text), "long_outlier_sequences") << text;
  }
  for (const char* text : {"LoRA, evaluating after every 300 steps, CUDA out of memory", "warmup 300 steps"})
    EXPECT_EQ(progress_in_words(text), "") << text;
}

TEST(DiagnosisMoment, WhoSavesMemoryOrMoneySavesNoCheckpoint) {
  for (const char* text :
       {"Trying to save GPU memory, training runs out of memory after a few steps",
        "OOM, although I save memory with checkpointing", "How do I save money when it goes OOM"})
    EXPECT_NE(phase_of(text), FailurePhase::save) << text;
  EXPECT_EQ(phase_of("OOM when saving"), FailurePhase::save);
  EXPECT_EQ(phase_of("it runs out of memory while saving the checkpoint"), FailurePhase::save);
}

}  // namespace
}  // namespace plimsoll::diagnosis
