// What ran out where it is not the card's memory, or where the last to ask is not who took it.
#include "core/diagnosis/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/diagnosis/printed.h"
#include "core/diagnosis/text.h"
#include "tests/core/explained.h"

namespace plimsoll::diagnosis {
namespace {

std::string case_of(const Diagnosis& d) {
  const bool named = !d.causes.empty() && d.causes.front().narrower != nullptr;
  return named ? std::string(d.causes.front().narrower->id) : "";
}

TEST(DiagnosisHost, OffloadedBytesAreHeldAgainstTheRamThatIsSaid) {
  const Diagnosis d = explained(
      "exitcode  : -9 (pid: 1234)\ntraceback : Signal 9 (SIGKILL) received by PID 1234\n"
      "Full finetuning Llama-3.1-8B with deepspeed zero3 offload on 4x A100 40GB, 128GB RAM");
  EXPECT_EQ(case_of(d), "offload");
  // 8.03e9 parameters by 16 and by 18 bytes.
  EXPECT_THAT(d.causes.front().shown, testing::Contains(testing::HasSubstr("119.66 GiB to 134.62 GiB")));
  EXPECT_THAT(d.causes.front().shown, testing::Contains(testing::HasSubstr("128.00 GiB")));
}

TEST(DiagnosisHost, WeightsLargerThanTheRamDoNotGoThroughIt) {
  const Diagnosis d = explained("Killed\npython train.py  - loading Qwen2.5-32B on Colab T4 with 12.7GB RAM");
  EXPECT_EQ(case_of(d), "weights_beyond_ram");
  // 32.76e9 parameters of two bytes.
  EXPECT_THAT(d.causes.front().shown, testing::Contains(testing::HasSubstr("61.03 GiB")));
}

TEST(DiagnosisHost, TheRamOfACardIsNotTheMachines) {
  EXPECT_EQ(ram_said("a 4090 with 24 gb vram, 24gb gpu ram"), 0);
  EXPECT_EQ(ram_said("gpu ram: 24 gb"), 0);
  EXPECT_EQ(ram_said("4x a100 40gb, 128gb ram"), 128 * gibibyte);
  EXPECT_EQ(ram_said("ram: 64 gb, swap 8 gb"), 64 * gibibyte);
  EXPECT_EQ(ram_said("rtx 3090 mit 32 gb arbeitsspeicher"), 32 * gibibyte);
  EXPECT_EQ(ram_said("256 gb of system ram"), 256 * gibibyte);
}

constexpr const char* of_slurm =
    "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=99.0. Some of your processes may have been "
    "killed by the cgroup out-of-memory handler. ";

TEST(DiagnosisHost, SlurmsOwnSentenceSaysNothingOfTheRun) {
  const Diagnosis plain = explained(std::string(of_slurm) + "LoRA of Llama 3.2 1B");
  ASSERT_FALSE(plain.causes.empty());
  EXPECT_EQ(plain.causes.front().cause->id, "host_ram");
  EXPECT_EQ(case_of(plain), "");
}

TEST(DiagnosisHost, ManyDataWorkersAreTheSuspectOfASingleProcess) {
  const std::string run = "Single GPU job, LoRA of Llama 3.2 1B, dataloader num_workers=";
  EXPECT_EQ(case_of(explained(of_slurm + run + "32")), "loader_workers");
  EXPECT_EQ(case_of(explained(of_slurm + run + "2")), "");
  EXPECT_EQ(workers_said("preprocessing_num_workers: 64"), 0);
}

TEST(DiagnosisHost, OneCardLoadsTheModelOnce) {
  const Diagnosis d = explained("every process is Killed while loading checkpoint shards of Llama-3.1-8B",
                                R"({"model": "Llama-3.1-8B", "parallel": {"num_gpus": 1}})");
  EXPECT_NE(case_of(d), "every_rank_loads");
}

// huggingface/transformers quantizers/quantizer_bnb_4bit.py: the advice speaks of int8 and of 32 bits.
TEST(DiagnosisHost, AdviceInALibrarysMessageIsNoSettingOfTheRun) {
  const Diagnosis d = explained(
      "ValueError: Some modules are dispatched on the CPU or the disk. Make sure you have enough GPU RAM to "
      "fit the quantized model. If you want to dispatch the model on the CPU or the disk while keeping these "
      "modules in 32-bit, you need to set `llm_int8_enable_fp32_cpu_offload=True` and pass a custom "
      "`device_map` to `from_pretrained`.\nI load Llama 3.3 70B in 4bit on a 24GB 3090");
  EXPECT_EQ(case_of(d), "dispatched_to_cpu");
  EXPECT_EQ(d.reading.facts.quantization, "4bit");
  EXPECT_FALSE(d.reading.facts.offload);
  for (const Named& named : d.causes) EXPECT_NE(named.cause->id, "bnb_not_applied");
}

TEST(DiagnosisHost, WhatIsTakenOutLeavesEverythingInItsPlace) {
  const std::string text = fold(std::string("a\n") + of_slurm + "\nb");
  const std::string words = own_words(text);
  EXPECT_EQ(words.size(), text.size());
  EXPECT_EQ(words.find("killed"), std::string::npos);
  EXPECT_EQ(words.substr(words.size() - 2), "\nb");
  EXPECT_EQ(own_words("oom-kill event(s) in"), "oom-kill event(s) in");
}

// ERROR_COMMITMENT_LIMIT of Windows (winerror.h), as Python prints it.
TEST(DiagnosisHost, APageFileThatIsTooSmallIsTheMachines) {
  const Diagnosis d = explained(
      "OSError: [WinError 1455] The paging file is too small for this operation to complete. Error loading "
      "\"cublas64_11.dll\" or one of its dependencies.");
  EXPECT_EQ(case_of(d), "windows_commit");
  EXPECT_EQ(d.causes.front().cause->id, "host_ram");
}

// As ROCclr's rocdevice.cpp prints it; what is free is the agent's, which is the card.
TEST(DiagnosisHost, HsaWithoutResourcesIsTheCardBeforeItIsTheHost) {
  const Diagnosis d = explained(
      "HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources. This error "
      "may also occur when the core runtime library needs to spawn threads or create internal OS-specific "
      "events. Available Free mem : 0 MB. Code: 0x1008");
  EXPECT_EQ(case_of(d), "hsa_resources");
  ASSERT_TRUE(d.reading.messages[0].numbers.free);
  EXPECT_EQ(d.reading.messages[0].numbers.free->bytes, 0);
}

// A figure that ROCclr printed in a run of PyTorch's own tests: 2^44 MB less what was in use.
TEST(DiagnosisHost, FreeMemoryThatNoCardHasIsNoFigure) {
  const Diagnosis d = explained(
      "HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources. This error "
      "may also occur when the core runtime library needs to spawn threads or create internal OS-specific "
      "events. Code: 0x1008 Available Free mem : 17592186044276 MB");
  ASSERT_EQ(d.reading.messages.size(), 1U);
  EXPECT_FALSE(d.reading.messages[0].numbers.free);
}

TEST(DiagnosisHost, BothOfSlurmsSentencesAreItsOwn) {
  const std::string words = own_words(
      "slurmstepd: error: detected 2 oom_kill events in stepid=7.batch. some of the step tasks have been oom "
      "killed. mine");
  EXPECT_EQ(words.find("killed"), std::string::npos);
  EXPECT_NE(words.find("mine"), std::string::npos);
}

// 70.6e9 parameters of 16 bytes over eight cards are 131 GiB each.
TEST(DiagnosisHost, NcclFindsNothingWhereTheRunAloneIsTooLarge) {
  const std::string nccl =
      "\nncclUnhandledCudaError: Call to CUDA function failed.\nLast error:\nFailed to CUDA calloc async 608 "
      "bytes\nCuda failure 'out of memory'";
  EXPECT_EQ(first_cause("8xH100 FSDP Llama 3.1 70B full fine-tuning" + nccl), "does_not_fit_at_all");
  EXPECT_EQ(first_cause("8xH100 FSDP Llama 3.1 8B full fine-tuning" + nccl), "nccl_buffers");
}

TEST(DiagnosisHost, AHoleOfSeveralTimesTheRequestIsFragmentation) {
  const Diagnosis d = explained(
      "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 23.69 GiB total capacity; 12.1 GiB already "
      "allocated; 1.02 GiB free; 21.9 GiB reserved in total by PyTorch) If reserved memory is >> allocated "
      "memory try setting max_split_size_mb to avoid fragmentation. It happens after ~2000 steps with variable "
      "length sequences, Llama 3.2 1B full fine-tune.");
  ASSERT_FALSE(d.causes.empty());
  EXPECT_EQ(d.causes.front().cause->id, "fragmentation");
}

// A request that would fit into what lies unused in the cache and what is free together, were it whole.
TEST(DiagnosisHost, CacheAndFreeMemoryTogetherCoverARequestInPieces) {
  const auto line = [](const char* asked, const char* unallocated) {
    return std::string("CUDA out of memory. Tried to allocate ") + asked +
           " GiB. GPU 0 has a total capacity of 23.65 GiB of which 1.20 GiB is free. Including non-PyTorch memory, this "
           "process has 22.45 GiB memory in use. Of the allocated memory 20.40 GiB is allocated by PyTorch, and " +
           unallocated + " GiB is reserved by PyTorch but unallocated.";
  };
  const auto speaks = [](const Diagnosis& d) {
    return std::any_of(d.evidence.begin(), d.evidence.end(),
                       [](const Evidence& one) { return one.sign == Sign::slack_and_free_cover; });
  };
  const Diagnosis d = explained(line("2.00", "1.50"));
  EXPECT_TRUE(speaks(d));
  ASSERT_FALSE(d.causes.empty());
  EXPECT_EQ(d.causes.front().cause->id, "fragmentation");
  EXPECT_FALSE(speaks(explained(line("3.00", "1.50"))));  // more than both
  EXPECT_FALSE(speaks(explained(line("1.30", "0.30"))));  // as much as any full card has in pieces
}

// Whole sentences of Kaggle, Colab, the kernel, launchers and PyTorch's DataLoader.
TEST(DiagnosisHost, WhoEndsAProcessForItsRamSaysSoInManyWays) {
  for (
      const char* text :
      {"Your notebook tried to allocate more memory than is available. It has restarted.",
       "Your session crashed after using all available RAM.", "python train.py\nKilled", "exit code 137",
       "SIGKILL", "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null)",
       "RuntimeError: DataLoader worker (pid 1234) is killed by signal: Killed.",
       "RuntimeError: DataLoader worker (pid(s) 10222) exited unexpectedly",
       "RuntimeError: DataLoader worker (pid 1234) is killed by signal: Bus error. It is possible that dataloader's "
       "workers are out of shared memory. Please try to raise your shared memory limit."}) {
    const Diagnosis d = explained(text);
    ASSERT_FALSE(d.causes.empty()) << text;
    EXPECT_EQ(d.causes.front().cause->id, "host_ram") << text;
    EXPECT_GT(d.causes.front().confidence, 0.9) << text;
    EXPECT_EQ(d.reading.messages.size(), 1U) << text;
  }
}

// A file of Transformers runs every model of its family.
TEST(DiagnosisHost, AFileInATracebackSaysNoSize) {
  EXPECT_EQ(parameters_in_name("File \"transformers/models/gpt2/modeling_gpt2.py\", line 254, in forward"),
            0);
  EXPECT_EQ(parameters_in_name("modeling_mixtral.py:310"), 0);
  EXPECT_GT(parameters_in_name("mixtral dies in modeling_mixtral.py"), 40e9);
  EXPECT_GT(parameters_in_name("bert_large on squad"), 300e6);
}

TEST(DiagnosisHost, GatheringACheckpointHasARemedyOfItsOwn) {
  const Diagnosis d = explained(
      "Traceback (most recent call last):\n  File \"train.py\", line 10, in <module>\n    trainer.train()\n"
      "  File \"torch/distributed/fsdp/_state_dict_utils.py\", line 300, in _full_post_state_dict_hook\n"
      "    return processed_state_dict\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has "
      "a total capacity of 79.15 GiB of which 1.20 GiB is free. Of the allocated memory 75.9 GiB is allocated by "
      "PyTorch, and 1.10 GiB is reserved by PyTorch but unallocated.");
  ASSERT_FALSE(d.causes.empty());
  EXPECT_EQ(d.causes.front().cause->id, "resume_or_save_peak");
  EXPECT_EQ(case_of(d), "gathered_at_save");
}

}  // namespace
}  // namespace plimsoll::diagnosis
