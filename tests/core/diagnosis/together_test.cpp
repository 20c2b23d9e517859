// What a report says in its own words, a thing and what is said of it in one sentence: no row of a list, so
// each case is said in other words than the reports that showed the rule.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/diagnosis/progress.h"
#include "tests/core/explained.h"

namespace plimsoll::diagnosis {
namespace {

using testing::IsEmpty;
using testing::Not;

std::string named_first(std::string_view text) { return first_cause(text); }

TEST(DiagnosisTogether, WhatAnotherProgramHoldsIsSaidInManyWays) {
  EXPECT_EQ(
      named_first("OOM although I use one sample: a zombie process is still occupying 30 GB of the card"),
      "other_process");
  EXPECT_EQ(named_first("out of memory at once. Some other user hogging the GPU, what can I do?"),
            "other_process");
  EXPECT_EQ(named_first("显存不足，发现有残留进程占着显卡"), "other_process");
  EXPECT_NE(named_first("OOM: each process is holding 20 GB of weights"), "other_process");
}

TEST(DiagnosisTogether, PartsOfMegatronAreNoWholeCopies) {
  const std::string line =
      "CUDA out of memory. Tried to allocate 1.96 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.2 GiB is "
      "free. Of the allocated memory 75.9 GiB is allocated by PyTorch, and 1.1 GiB is reserved by PyTorch but "
      "unallocated.";
  EXPECT_EQ(named_first("LoRA of Llama-3-70B on 8 A100 80GB. " + line), "replicated_not_sharded");
  for (const char* way : {"Megatron-LM, tensor parallel 4", "pipeline parallelism over two stages"})
    EXPECT_NE(named_first("LoRA of Llama-3-70B on 8 A100 80GB with " + std::string(way) + ". " + line),
              "replicated_not_sharded");
}

// A card that is a tenth full explains nothing: what is said beside the table is read.
TEST(DiagnosisTogether, ATableOfACardThatIsNotFullLeavesTheWordsToSpeak) {
  EXPECT_EQ(
      named_first("[0] NVIDIA A100 80GB PCIe | 40'C, 99 % | 9001 / 81920 MB | (null)\n"
                  "Out of memory; the process is gone from the list and still holds the memory of the GPU"),
      "other_process");
}

TEST(DiagnosisTogether, AQuantisationThatDidNotTakeIsNamed) {
  EXPECT_EQ(
      named_first("OOM while loading: the quantization config seems to be ignored, I want load_in_4bit"),
      "bnb_not_applied");
}

TEST(DiagnosisTogether, ASavingThatDidNotComeIsTheQuestion) {
  EXPECT_EQ(named_first("OOM. Why does QLoRA need more GPU memory than LoRA on the same data?"),
            "qlora_not_smaller");
  EXPECT_EQ(named_first("LoRA takes the same amount of memory as full fine-tuning, still OOM"),
            "adapters_save_little");
}

TEST(DiagnosisTogether, AShapeWithTwoEqualLengthsIsThatOfScores) {
  EXPECT_EQ(named_first("OOM when it allocates a tensor of [8, 16000, 16000] in training"),
            "eager_attention_quadratic");
}

// The weights of one card against its memory decide also where several cards are spoken of.
TEST(DiagnosisTogether, AModelLargerThanEachOfSeveralCardsIsCopiedOntoEach) {
  EXPECT_EQ(named_first("LoRA fine-tuning of llama-30b on 4 x RTX 4090 ends in OOM"),
            "replicated_not_sharded");
  EXPECT_EQ(named_first("lora微调llama-65b，四卡A800 OOM"), "replicated_not_sharded");
  EXPECT_NE(named_first("LoRA fine-tuning of llama-7b on 4 x RTX 4090 ends in OOM"),
            "replicated_not_sharded");
}

TEST(DiagnosisTogether, WhatRunsSpreadOverTheCardsIsCopiedByALauncher) {
  EXPECT_EQ(named_first("LoRA with 4 GPUs: torchrun is OOM, device_map=auto in one process works"),
            "replicated_not_sharded");
}

TEST(DiagnosisTogether, OneProcessOfALauncherUsesOneCard) {
  const Diagnosis d = explained(
      "devices=8, 8 GPUs of A100 80GB. distributed_backend=nccl\n"
      "All distributed processes registered. Starting with 1 processes\nOOM");
  EXPECT_TRUE(std::any_of(d.evidence.begin(), d.evidence.end(),
                          [](const Evidence& e) { return e.sign == Sign::one_card_only; }));
}

// Evaluation keeps the logits of all samples: that the use climbs then is no leak.
TEST(DiagnosisTogether, WhatGrowsWhileItEvaluatesIsTheHeapOfLogits) {
  EXPECT_EQ(named_first("While evaluating, the GPU memory keeps climbing until it is OOM; training is fine"),
            "eval_accumulates_logits");
  EXPECT_EQ(named_first("训练中GPU占用不断上涨，最后OOM"), "growth_over_steps");
}

TEST(DiagnosisTogether, ANumberOfStepsTellsHowFarItCame) {
  for (const char* text : {"(step=0002010) train loss: 0.3", "global_step 2010"})
    EXPECT_THAT(progress_in_words(text), Not(IsEmpty())) << text;
  for (const char* text :
       {"max_steps=1000", "save every 100 steps", "step=1", "第1步就爆", "训练100%后", "warmup_step=50"})
    EXPECT_THAT(progress_in_words(text), IsEmpty()) << text;
}

TEST(DiagnosisTogether, TheSampleThatIsTooLongIsSaidInWords) {
  EXPECT_EQ(named_first("OOM whenever a batch meets a very long sample"), "long_outlier_sequences");
  EXPECT_EQ(named_first("OOM, and it was due to a few very long sentences"), "long_outlier_sequences");
  EXPECT_EQ(named_first("训练偶尔OOM"), "long_outlier_sequences");
}

// Who ran out is said first: the machine's memory, though a checkpoint was being written.
TEST(DiagnosisTogether, AProcessThatTheKernelEndedAtASaveHadNoRam) {
  EXPECT_EQ(
      named_first(
          "slurmstepd: error: Detected 1 oom_kill event in StepId=7.0. It was while saving a checkpoint"),
      "host_ram");
  EXPECT_EQ(named_first("70B full fine-tune hits CPU OOM during checkpoint save"), "host_ram");
  EXPECT_EQ(named_first("Loading under FSDP ends in OOM: the CPU RAM fills until the process ends"),
            "host_ram");
  EXPECT_EQ(named_first("保存模型的时候\n[ERROR] failed (exitcode: -9) local_rank: 0\n应该是服务器内存不足"),
            "host_ram");
  EXPECT_EQ(named_first("Loading checkpoint shards:  50%|##  | 1/2 [00:05<00:05,  5.1s/it]Killed"),
            "host_ram");
  EXPECT_EQ(named_first("8卡载入72B爆了内存（内存1T）"), "host_ram");
}

TEST(DiagnosisTogether, BoardsOfAnotherMarketAreKnownByTheirSisters) {
  EXPECT_EQ(named_first("full fine-tuning of llama-13b on a single H800, OOM"), "does_not_fit_at_all");
  EXPECT_EQ(named_first("LoRA of llama-13b on a 4090D, OOM"), "does_not_fit_at_all");
}

TEST(DiagnosisTogether, FramesOfPyTorchsCheckpointsAreASave) {
  EXPECT_EQ(phase_of("File \"torch/distributed/checkpoint/state_dict_saver.py\", line 9, in save_state_dict\n"
                     "File \"x.py\", line 3, in run\nOOM"),
            FailurePhase::save);
  EXPECT_EQ(phase_of("File \"torch/distributed/checkpoint/state_dict.py\", line 648, in _init_optim_state\n"
                     "    optim.step(closure=None)\nFile \"x.py\", line 3, in run\nOOM"),
            FailurePhase::save);
}

// What works beside it is not what failed.
TEST(DiagnosisTogether, AMethodThatWorksIsNotTheOneThatFailed) {
  EXPECT_NE(named_first("Fine-tuning llama-7b with lora on a 3090 is OOM"), "does_not_fit_at_all");
}

TEST(DiagnosisTogether, ARunThatWorksOnOneCardIsCopiedOntoTwo) {
  EXPECT_EQ(named_first("8bit training works well on a single GPU and is OOM with 2 GPUs"),
            "replicated_not_sharded");
}

TEST(DiagnosisTogether, WhatAFirstRunLeftFailsTheSecond) {
  EXPECT_EQ(named_first("It trains once. The second run in the same notebook ends in OOM"), "other_process");
}

TEST(DiagnosisTogether, CheckpointingThatDoesNotTakeIsNamed) {
  EXPECT_EQ(named_first("OOM in LoRA training. Gradient checkpointing is not enabled by the wrapper"),
            "checkpointing_not_active");
  EXPECT_NE(named_first("OOM in LoRA training even with gradient checkpointing enabled"),
            "checkpointing_not_active");
}

TEST(DiagnosisTogether, AWeightThatIsMovedToTheCardIsLoading) {
  EXPECT_EQ(
      phase_of("File \"torch/nn/modules/module.py\", line 942, in _apply\n    param_applied = fn(param)\n"
               "File \"torch/nn/modules/module.py\", line 1341, in convert\n    return t.to(\nOOM"),
      FailurePhase::load);
}

TEST(DiagnosisTogether, AnOwnEstimateIsAmongTheCauses) {
  const Diagnosis d = explained("OOM on 4 x A100 80GB. By my calculation it takes 55 GB of memory in theory");
  EXPECT_TRUE(std::any_of(d.causes.begin(), d.causes.end(),
                          [](const Named& one) { return one.cause->id == "estimate_missing_terms"; }));
}

// A power of two beyond the card is batch x heads x length x length before it is nonsense.
TEST(DiagnosisTogether, ARequestOfExactlySixtyFourGibibytesIsScores) {
  EXPECT_EQ(
      named_first(
          "OutOfMemoryError: CUDA out of memory. Tried to allocate 64.00 GiB. GPU 0 has a total capacty "
          "of 14.75 GiB of which 5.48 GiB is free. Process 15367 has 9.27 GiB memory in use. Of the "
          "allocated memory 8.79 GiB is allocated by PyTorch, and 351.89 MiB is reserved by PyTorch but "
          "unallocated."),
      "eager_attention_quadratic");
}

// "内存" is the machine's where it is counted, and often the card's where it is not.
TEST(DiagnosisTogether, TheMachinesMemoryIsMeantByWhoeverCountsIt) {
  EXPECT_EQ(named_first("lora微调，机器只有64G内存，合并时爆内存"), "host_ram");
}

TEST(DiagnosisTogether, WhatGrowsDoesNotStopAtTheSize) {
  EXPECT_EQ(named_first("训练时显存控制不住地涨，最后OOM"), "growth_over_steps");
  EXPECT_EQ(named_first("Calling inference several times ends in out of memory"), "growth_over_steps");
}

TEST(DiagnosisTogether, WhatFittedWithAnOlderReleaseFitsAsSuch) {
  EXPECT_EQ(named_first("OOM when doing inference on any model. Since I updated it happens every time"),
            "regression_in_library");
}

TEST(DiagnosisTogether, InferenceIsGenerating) {
  EXPECT_EQ(phase_of("CUDA out of memory during inference with the tuned model"), FailurePhase::generate);
  EXPECT_EQ(phase_of("微调后推理时显存不足OOM"), FailurePhase::generate);
}

// A setting's name is no frame.
TEST(DiagnosisTogether, DoraInASettingIsNoFrame) {
  EXPECT_EQ(phase_of("CUDA out of memory. per_device_train_batch_size=4, use_dora=True"),
            FailurePhase::unknown);
  EXPECT_EQ(phase_of("File \"peft/tuners/lora/dora.py\", line 52, in forward\nOOM"), FailurePhase::forward);
}

TEST(DiagnosisTogether, ABenchmarkIsNoEvaluationOfARun) {
  EXPECT_NE(named_first("Evaluation of Qwen2-VL-7B with lmms_eval is OOM"), "eval_accumulates_logits");
  EXPECT_EQ(named_first("LoRA training of Qwen2-7B is fine, it is OOM during evaluation"),
            "eval_accumulates_logits");
}

TEST(DiagnosisTogether, KeepingGradientsIsNoSave) {
  EXPECT_NE(phase_of("在保存每个batch的梯度时显存OOM"), FailurePhase::save);
  EXPECT_EQ(phase_of("后续模型更新参数直接爆显存 OOM"), FailurePhase::optimizer);
}

TEST(DiagnosisTogether, MachinesTimesTheirCards) {
  const auto cards = [](std::string_view words) { return cards_counted(words).value_or(0); };
  EXPECT_EQ(cards("4台A800-80G*8微调OOM"), 32);
  EXPECT_EQ(cards("2机8卡全参OOM"), 16);
  EXPECT_EQ(cards("OOM on 2 nodes with 8 GPUs each"), 16);
  EXPECT_EQ(cards("OOM on 2 nodes with 16 GPUs"), 16);
}

TEST(DiagnosisTogether, WhoAsksToSpreadTheModelHasItWholeOnEachCard) {
  EXPECT_EQ(named_first("多卡微调Qwen-7B OOM，怎样把一个模型平均分到多张卡"), "replicated_not_sharded");
  EXPECT_EQ(named_first("OOM on 4 GPUs. How can I split the weights across the GPUs?"),
            "replicated_not_sharded");
}

TEST(DiagnosisTogether, EveryProcessThatLoadsTheModelFillsTheCards) {
  const std::string found =
      named_first("DeepSpeed ZeRO-3 loads the whole model in every process, OOM on 2 GPUs");
  EXPECT_TRUE(found == "sharding_load_peak" || found == "replicated_not_sharded") << found;
}

// Where a shorter length fits, the weights have their place.
TEST(DiagnosisTogether, ALengthThatFitsClearsTheWeights) {
  EXPECT_EQ(named_first("4张A100全参微调7B，长度超过3万就OOM"), "batch_or_sequence_too_large");
  EXPECT_EQ(named_first("OOM at full fine-tuning of a 7B model: a sequence length above 4096 ends in OOM"),
            "batch_or_sequence_too_large");
}

TEST(DiagnosisTogether, ASpikeAtTheLogitsIsTheLogits) {
  EXPECT_EQ(named_first("训练Qwen2.5-7B时OOM，显存在计算logits时出现峰值"), "logits_peak");
  EXPECT_EQ(named_first("PPO is OOM when computing the logits of the reference"), "logits_peak");
  EXPECT_NE(named_first("PPO is OOM on 8 GPUs"), "logits_peak");
}

}  // namespace
}  // namespace plimsoll::diagnosis
