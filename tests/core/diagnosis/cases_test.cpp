// Cases of a cause: settings without effect, and memory that is not the GPU's. All texts are our own.
#include <gtest/gtest.h>

#include <iterator>
#include <string>

#include "core/report/diagnose.h"
#include "tests/core/explained.h"

namespace plimsoll::diagnosis {
namespace {

struct Told {
  const char* what;
  const char* text;
};
constexpr Told told[] = {
    {"checkpointing_ignored",
     "OOM in the first step. gradient_checkpointing=True makes no difference, memory is as with False"},
    {"checkpointing_ignored", "显存不足，gradient_checkpointing 好像没有生效"},
    {"checkpointing_ignored",
     "gradient_checkpointing=\"unsloth\" is set in my loop. Memory is as high as without, OOM at 4k tokens"},
    {"quantization_ignored",
     "model.get_memory_footprint() prints 15 GB although I gave load_in_4bit=True to the loader. CUDA out of "
     "memory"},
    {"quantization_ignored", "load_in_4bit=True is ignored, the 7B takes 14 GB and then CUDA out of memory"},
    {"sharding_ignored", "FSDP on four cards does nothing, each holds the whole 13B, out of memory"},
    {"attention_kernel_ignored", "flash_attention_2 does not work on my T4, OOM at 4k tokens"},
    {"wsl_driver", "WSL2: CUDA error: out of memory"},
    {"loss_kernel_ignored", "use_liger_kernel has no effect, CUDA out of memory in logits.float()"},
    {"length_ignored", "OOM: max_seq_length is ignored, there are samples of 9k tokens in the batch"},
    {"shared_memory",
     "RuntimeError: DataLoader worker is killed by signal: Bus error. insufficient shared "
     "memory (shm)."},
    {"ray", "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory"},
    {"dataset_workers", "One of the subprocesses has abruptly died during map operation, num_proc=64"},
    {"wsl", "In WSL the loading of a 13B just says Killed"},
    {"shared_gpu_memory", "Windows 11: training uses 9 GB of shared GPU memory and is ten times slower"},
    {"jax_share", "Importing jax makes nvidia-smi show 18 GB on my 4090. Is that normal?"},
    {"vllm_share", "Why does vllm take so much memory for a 0.5B model?"},
    {"vllm_share_not_free",
     "ValueError: Free memory on device (12.31/23.64 GiB) on startup is less than desired GPU memory utilization "
     "(0.9, 21.28 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes."},
    {"dispatched_to_cpu",
     "ValueError: Some modules are dispatched on the CPU or the disk. Make sure you have enough GPU RAM to fit the "
     "quantized model."},
    {"metal_working_set", "mlx stops at recommendedMaxWorkingSetSize although RAM is free"},
};

// A model reads the words. It misses four of these, which then get a question; it must not miss more.
TEST(Cases, AreNamedAndSpeakForTheirCause) {
  std::size_t right = 0;
  std::string missed;
  for (const Told& one : told) {
    const auto d = explained(one.text);
    ASSERT_FALSE(d.causes.empty()) << one.text;
    const auto& first = d.causes.front();
    const bool named = first.narrower != nullptr && first.narrower->id == one.what;
    if (named) {
      EXPECT_EQ(first.cause->id, find_case(one.what)->cause) << one.text;
    }
    right += named ? 1 : 0;
    if (!named) missed += std::string(one.text) + "\n";
  }
  EXPECT_GE(right + 4, std::size(told)) << missed;
}

// 2 x 8.19e9 parameters of Qwen3-8B are 15.26 GiB: all of it, in one piece.
TEST(Cases, FsdpThatWrapsNothingAsksForTheWholeModel) {
  const auto d = explained(
      "Qwen3-8B, full, FSDP NO_WRAP, 2x A100 80GB: CUDA out of memory. Tried to allocate 15.26 GiB (GPU 0; "
      "79.15 GiB total capacity; 61.00 GiB already allocated; 10.00 GiB free; 62.00 GiB reserved in total by "
      "PyTorch)");
  EXPECT_EQ(d.reading.facts.method, Method::full);
  ASSERT_FALSE(d.causes.empty());
  ASSERT_NE(d.causes.front().narrower, nullptr);
  EXPECT_EQ(d.causes.front().narrower->id, "wrapping_ignored");
}

TEST(Cases, FlashAttentionOnAT4LeavesTheScoresInFull) {
  EXPECT_EQ(
      first_cause("Llama-3.1-8B QLoRA with flash attention on a T4, length 4096. CUDA out of memory. Tried "
                  "to allocate 2.00 GiB (GPU 0; 14.58 GiB total capacity; 11.00 GiB already allocated; 1.00 "
                  "GiB free; 12.00 GiB reserved in total by PyTorch)"),
      "eager_attention_quadratic");
}

TEST(Cases, EachBelongsToACauseAndHasItsRemedy) {
  for (const Case& one : all_cases()) {
    EXPECT_NE(find_cause(one.cause), nullptr) << one.id;
    EXPECT_FALSE(one.remedy.empty()) << one.id;
    EXPECT_EQ(one.undo != nullptr, !one.without.empty()) << one.id;
  }
}

TEST(Cases, TransformersNoteOnTheCacheIsNoSignOfTrouble) {
  const auto d = explained(
      "`use_cache=True` is incompatible with gradient checkpointing. Setting `use_cache=False`.\n"
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of "
      "23.69 GiB of which 1.10 GiB is free.");
  EXPECT_TRUE(d.reading.cases.empty());
}

TEST(Cases, OffloadingIsNoCaseWhereTheCardRanOut) {
  EXPECT_NE(first_cause("CUDA out of memory although I offload to CPU memory"), "host_ram");
}

// Either release is read and replayed; what is said of them is the case, whichever it is.
TEST(Cases, TwoReleasesThatATextTellsApartAreReplayed) {
  for (const char* told :
       {"it worked with transformers 4.50, since 4.54 it is OOM",
        "OOM after upgrading transformers from 4.50 to 4.54", "OOM since transformers 4.50 -> 4.54",
        "läuft mit transformers 4.50, seit 4.54 out of memory"}) {
    const auto d = explained("LoRA of Qwen2.5-7B on a 4090: " + std::string(told));
    ASSERT_FALSE(d.causes.empty()) << told;
    EXPECT_EQ(d.causes.front().cause->id, "regression_in_library") << told;
    ASSERT_NE(d.causes.front().narrower, nullptr) << told;
    EXPECT_EQ(d.causes.front().narrower->id.substr(0, 8), "release_") << told;
    EXPECT_NE(d.causes.front().shown.back().find("transformers 4.54"), std::string::npos) << told;
  }
  for (const char* other : {"OOM with transformers 4.50 and Python 3.10 to 3.11",
                            "OOM, trl 0.14 and peft 0.15", "OOM, transformers 4.50, lr 4.5"})
    EXPECT_TRUE(explained("LoRA of Qwen2.5-7B on a 4090: " + std::string(other)).reading.cases.empty())
        << other;
}

TEST(Cases, TheAnswerSpeaksOfTheCase) {
  const std::string answer = report::diagnosis_text(
      "RuntimeError: DataLoader worker (pid 3) is killed by signal: Bus error. insufficient shared memory "
      "(shm)",
      "", "", catalog());
  EXPECT_NE(answer.find(R"("case":"shared_memory")"), std::string::npos);
  EXPECT_NE(answer.find("--shm-size"), std::string::npos);
}

}  // namespace
}  // namespace plimsoll::diagnosis
