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
