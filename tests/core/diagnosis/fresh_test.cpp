// What fresh public reports showed to be misread: each case is a rule, its message a report of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/explained.h"

namespace plimsoll::diagnosis {
namespace {

// axolotl-ai-cloud/axolotl#1813: the terminal broke "total" before the capacity was said.
TEST(DiagnosisFresh, AMessageThatIsBrokenBeforeItsFirstFigureIsReadWhole) {
  const Diagnosis d = explained(
      "[rank1]: torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU  has a to\n"
      "tal capacity of 23.67 GiB of which 1.59 GiB is free. Including non-PyTorch memory, this process has\n"
      " 22.06 GiB memory in use. Of the allocated memory 19.75 GiB is allocated by PyTorch, and 1.78 GiB i\n"
      "s reserved by PyTorch but unallocated.");
  ASSERT_NE(d.reading.message(), nullptr);
  const Numbers& n = d.reading.message()->numbers;
  ASSERT_TRUE(n.capacity && n.allocated && n.this_process && n.unallocated);
  EXPECT_NEAR(n.capacity->bytes / gibibyte, 23.67, 1e-6);
  EXPECT_NEAR(n.allocated->bytes / gibibyte, 19.75, 1e-6);
  EXPECT_NEAR(n.unallocated->bytes / gibibyte, 1.78, 1e-6);
}

// A full card's cache always holds some hundredths of it in pieces (nlpyang/BertSum#101); a quarter of the
// card is another matter (huggingface/trl#3436).
TEST(DiagnosisFresh, SomeSlackOnAFullCardIsNoFragmentation) {
  EXPECT_NE(
      first_cause("RuntimeError: CUDA out of memory. Tried to allocate 34.00 MiB (GPU 0; 10.91 GiB total "
                  "capacity; 9.52 GiB already allocated; 17.56 MiB free; 776.30 MiB cached)"),
      "fragmentation");
  EXPECT_EQ(
      first_cause("RuntimeError: CUDA out of memory. Tried to allocate 34.00 MiB (GPU 0; 10.91 GiB total "
                  "capacity; 7.52 GiB already allocated; 17.56 MiB free; 2.80 GiB cached)"),
      "fragmentation");
}

// Windows reports the board's whole memory: its driver and the desktop lie in what PyTorch does not hold.
TEST(DiagnosisFresh, TheRestOfAWholeBoardIsNotAnotherProgram) {
  EXPECT_NE(
      first_cause("RuntimeError: CUDA out of memory. Tried to allocate 48.00 MiB (GPU 0; 6.00 GiB total "
                  "capacity; 4.58 GiB already allocated; 37.63 MiB free; 51.94 MiB cached)"),
      "other_process");
  EXPECT_EQ(
      first_cause("RuntimeError: CUDA out of memory. Tried to allocate 48.00 MiB (GPU 0; 6.00 GiB total "
                  "capacity; 2.58 GiB already allocated; 37.63 MiB free; 51.94 MiB cached)"),
      "other_process");
}

TEST(DiagnosisFresh, SmallNetworksAreKnownByNameWithoutAFigure) {
  EXPECT_DOUBLE_EQ(parameters_in_name("bert-base-uncased"), 110e6);
  EXPECT_DOUBLE_EQ(parameters_in_name("xlm-roberta-large"), 560e6);
  EXPECT_DOUBLE_EQ(parameters_in_name("allenai/longformer-base-4096"), 149e6);
  EXPECT_DOUBLE_EQ(parameters_in_name("gpt2-xl"), 1558e6);
  EXPECT_DOUBLE_EQ(parameters_in_name("robert's own network"), 0);
  EXPECT_DOUBLE_EQ(parameters_in_name("EleutherAI/pythia-160m"), 160e6);
  EXPECT_DOUBLE_EQ(parameters_in_name("HuggingFaceTB/SmolLM2-1.7B"), 1.7e9);
  EXPECT_DOUBLE_EQ(parameters_in_name("a step of 5m"), 0);
  // gmihaila/ml_things#4: what trains 149 million parameters in 16 GB has room for them, not for the batch.
  EXPECT_EQ(
      first_cause("RuntimeError: CUDA out of memory. Tried to allocate 514.00 MiB (GPU 0; 15.75 GiB total "
                  "capacity; 14.14 GiB already allocated; 106.81 MiB free; 14.32 GiB reserved in total by "
                  "PyTorch)\nfine-tuning",
                  R"({"model": "allenai/longformer-base-4096"})"),
      "batch_or_sequence_too_large");
}

TEST(DiagnosisFresh, WhoSaysThatOneSampleFailsToldThatTheBatchIsNotTheCause) {
  const auto says = [](const char* text) {
    const Diagnosis d = explained(text);
    for (const Evidence& e : d.evidence) {
      if (e.sign == Sign::one_sample_fails) return true;
    }
    return false;
  };
  EXPECT_TRUE(says("OOM on 96 GB even with a batch size of 1"));
  EXPECT_TRUE(says("CUDA out of memory although I reduced the batch_size to 1."));
  EXPECT_TRUE(says("显存不足，即使 batch size 设为 1"));
  EXPECT_FALSE(says("CUDA out of memory, even with batch size 16"));
  EXPECT_FALSE(says("CUDA out of memory.\nper_device_train_batch_size: 1"));
}

TEST(DiagnosisFresh, RayAndTheKernelSayThatTheMachineRanOut) {
  EXPECT_EQ(first_cause("Task was killed due to the node running low on memory (ray oom); vllm sleeps"),
            "host_ram");
  EXPECT_EQ(first_cause("resume_from_checkpoint oom killed"), "host_ram");
  EXPECT_EQ(first_cause("在载入GPU之前占用了248G内存，然后就把进程杀了"), "host_ram");
}

TEST(DiagnosisFresh, CardsAreCountedWhereTheirNameFollowsTheNumber) {
  EXPECT_EQ(cards_counted("I have 8 rtx3090 (24g)"), 8);
  EXPECT_EQ(cards_counted("with 4 a100 gpus"), 4);
  EXPECT_EQ(cards_counted("batch size 4 a100"), std::nullopt);
  EXPECT_EQ(cards_counted("rank=8 v100"), std::nullopt);
}

TEST(DiagnosisFresh, StepsInAGuideAreNoStepsOfTraining) {
  EXPECT_NE(first_cause("I follow the steps in the guide and get CUDA out of memory"),
            "long_outlier_sequences");
  EXPECT_EQ(first_cause("It dies with CUDA out of memory 200 steps in"), "long_outlier_sequences");
}

// The 98.2 MiB of 1024 tokens' logits print as 100.00 MiB; so does much else on a card that is full.
TEST(DiagnosisFresh, ASmallRequestThatNeedsAGuessedLengthNamesNoCause) {
  EXPECT_NE(
      first_cause(
          "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 100.00 MiB (GPU 0; 23.68 "
          "GiB total capacity; 21.67 GiB already allocated; 85.06 MiB free; 21.92 GiB reserved in total "
          "by PyTorch)",
          R"({"model": "openai-community/gpt2-xl"})"),
      "logits_peak");
}

TEST(DiagnosisFresh, FramesOfEvaluationEnginesAndLayersNameTheirPhase) {
  const auto phase = [](const char* frame) { return read_frames(clean(frame)).phase; };
  EXPECT_EQ(phase("in torch_pad_and_concatenate(tensor1, tensor2)"), FailurePhase::eval);
  EXPECT_EQ(phase("in _backload_vllm_engines"), FailurePhase::generate);
  EXPECT_EQ(phase("return self.act(input)"), FailurePhase::forward);
  EXPECT_EQ(phase("during ZeRO optimizer state initialization"), FailurePhase::optimizer);
}

// Lightning-AI/lit-llama#397: 6.74e9 parameters in fp32 by four cards, to the digit.
TEST(DiagnosisFresh, AFlatShareOfAllParametersIsTheOptimizersOwn) {
  EXPECT_EQ(
      first_cause(
          "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 6.28 GiB (GPU 0; 39.39 GiB "
          "total capacity; 31.38 GiB already allocated; 5.90 GiB free; 31.39 GiB reserved in total by "
          "PyTorch)\nfully fine-tuned with DeepSpeed, micro_batch_size=1",
          R"({"model": "meta-llama/Llama-2-7b-hf", "parallel": {"num_gpus": 4}})"),
      "optimizer_states_first_step");
}

// modelscope/ms-swift#3456: 2048 tokens of text make no tensor of 23 GiB; the patches of an image do.
TEST(DiagnosisFresh, ATensorThatTheTextCannotMakeCameFromTheImages) {
  const char* request = R"({"model": "Qwen/Qwen2-VL-7B-Instruct", "peft": {"r": 8},
                            "training": {"per_device_train_batch_size": 1, "max_length": 2048}})";
  EXPECT_EQ(first_cause(
                "attn_output = F.scaled_dot_product_attention(q, k, v, attention_mask, dropout_p=0.0)\n"
                "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 23.41 GiB. GPU 1 has a total "
                "capacity of 39.38 GiB of which 7.57 GiB is free. Including non-PyTorch memory, this process "
                "has 31.80 GiB memory in use. Of the allocated memory 29.62 GiB is allocated by PyTorch, and "
                "857.53 MiB is reserved by PyTorch but unallocated.",
                request),
            "vision_tokens");
}

TEST(DiagnosisFresh, DeepSpeedOfAnUnknownStageIsNotCalledDataParallelism) {
  const Diagnosis d = explained(
      "torch.cuda.OutOfMemoryError: CUDA out of memory.\nfull fine-tuning with deepspeed on 8 a100 gpus",
      R"({"model": "meta-llama/Llama-2-7b-hf"})");
  for (const Evidence& e : d.evidence) EXPECT_NE(e.sign, Sign::replicates) << e.words;
}

TEST(DiagnosisFresh, AStepCounterWithAnEtaSaysThatMostBatchesFit) {
  EXPECT_EQ(
      first_cause("Epoch: [0]  [1330/3696]  eta: 0:31:38  lr: 0.000100  loss: 5.0905\nlosses.backward()\n"
                  "RuntimeError: CUDA out of memory."),
      "long_outlier_sequences");
}

}  // namespace
}  // namespace plimsoll::diagnosis
