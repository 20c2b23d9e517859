// Sizes in published error lines and the tensors they are. Each line is from a public thread; the product
// stands beside it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "tests/core/explained.h"

namespace plimsoll::diagnosis {
namespace {

std::vector<Match> matches(const std::string& size, std::string_view request, std::string_view phase = "") {
  question::PastedCase one;
  const std::string text =
      "CUDA out of memory. Tried to allocate " + size + " (GPU 0; 79.15 GiB total capacity; ";
  question::read_case(text, request, phase, catalog(), one);
  return diagnose(one.situation).reading.matches;
}

struct Line {
  const char* size;
  const char* request;
  const char* phase;
  TensorKind kind;
  int element;
  double bytes;
  const char* source;
};

TEST(DiagnosisTensors, PublishedSizesAreNamed) {
  const Line lines[] = {
      {"224.00 MiB", R"({"model": "mistral-7b-v0.1"})", "", TensorKind::weight, 4, 14336.0 * 4096 * 4,
       "Farzad-R/Finetune-LLAVA-NEXT#2"},
      {"172.00 MiB", R"({"model": "llama-2-7b-hf"})", "load", TensorKind::weight, 4, 11008.0 * 4096 * 4,
       "Lightning-AI/lit-llama#137"},
      {"86.00 MiB", R"({"model": "llama-2-7b-hf"})", "load", TensorKind::weight, 2, 11008.0 * 4096 * 2,
       "meta-llama/codellama#82"},
      {"448.00 MiB", R"({"model": "llama-2-70b-hf"})", "load", TensorKind::weight, 2, 28672.0 * 8192 * 2,
       "meta-llama/llama#918"},
      {"500.00 MiB",
       R"({"model": "llama-2-7b-hf", "peft": {"r": 8}, "quantization": {"load_in_8bit": true}})", "load",
       TensorKind::embedding, 4, 32000.0 * 4096 * 4, "tloen/alpaca-lora#442"},
      {"774.00 MiB", R"({"model": "llama-2-7b-hf", "parallel": {"num_gpus": 8, "strategy": "fsdp"}})",
       "backward", TensorKind::layer, 4, 202383360.0 * 4, "Alpha-VLLM/LLaMA2-Accessory#31"},
      {"37.09 GiB", R"({"model": "Qwen/Qwen3-0.6B"})", "loss", TensorKind::logits, 4, 65536.0 * 151936 * 4,
       "PrimeIntellect-ai/prime-rl tables"},
      {"1.96 GiB",
       R"({"model": "meta-llama/Meta-Llama-3-8B", "peft": {"r": 8}, "quantization": {"load_in_4bit": true}})",
       "", TensorKind::logits, 4, 4096.0 * 128256 * 4, "kinggongzilla/whatsapp-ai-clone#12"},
      {"128.00 MiB",
       R"({"model": "huggyllama/llama-7b", "peft": {"r": 8},
           "training": {"per_device_train_batch_size": 8, "max_length": 512}})",
       "", TensorKind::scores, 2, 8.0 * 32 * 512 * 512 * 2, "tloen/alpaca-lora#329"},
  };
  for (const Line& line : lines) {
    const auto found = matches(line.size, line.request, line.phase);
    const bool named = std::any_of(found.begin(), found.end(), [&](const Match& match) {
      return match.kind == line.kind && match.element == line.element && match.bytes == line.bytes &&
             match.model.empty();
    });
    EXPECT_TRUE(named) << line.source << ": " << line.size << ", first is "
                       << (found.empty() ? "nothing" : found[0].what);
  }
}

// Rows of recipe/tasks.cpp: KTO has one sequence a sample, reward and CPO two.
TEST(DiagnosisTensors, ATaskHasAsManySequencesAsItsTrainerRuns) {
  const auto logits_of = [](const char* size, const std::string& task, double tokens) {
    const std::string request =
        R"({"model": "llama-3.1-8b", "task": ")" + task +
        R"(", "peft": {"r": 8}, "training": {"per_device_train_batch_size": 3, "max_length": 1000}})";
    const auto found = matches(size, request);
    return std::any_of(found.begin(), found.end(), [&](const Match& match) {
      return match.kind == TensorKind::logits && match.bytes == tokens * 128256 * 4;
    });
  };
  EXPECT_TRUE(logits_of("1.43 GiB", "kto", 3000));
  EXPECT_FALSE(logits_of("2.87 GiB", "kto", 6000));
  for (const char* pairs : {"dpo", "orpo", "cpo", "simpo"})
    EXPECT_TRUE(logits_of("2.87 GiB", pairs, 6000)) << pairs;
}

TEST(DiagnosisTensors, TheSizeThatNamesAnFp32ModelSaysSo) {
  const auto found = matches("224.00 MiB", R"({"model": "mistral-7b-v0.3"})");
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].dtype, "fp32");
  EXPECT_THAT(found[0].what, testing::HasSubstr("14336 x 4096"));
  EXPECT_THAT(found[0].implies, testing::HasSubstr("held in fp32"));
}

TEST(DiagnosisTensors, WithoutARequestModelsAreProposed) {
  const auto found = matches("224.00 MiB", "");
  ASSERT_FALSE(found.empty());
  EXPECT_THAT(found[0].model, testing::HasSubstr("mistral-7b"));
  EXPECT_EQ(found[0].dtype, "fp32");
}

TEST(DiagnosisTensors, BlocksThatHoldAnySmallTensorNameNone) {
  for (const char* size : {"2.00 MiB", "20.00 MiB", "12.00 MiB", "512 bytes"}) {
    EXPECT_TRUE(matches(size, R"({"model": "mistral-7b-v0.3"})").empty()) << size;
  }
}

// What PyTorch prints for a request: the allocation, rounded up to 2 MiB, with two decimals.
std::string printed(double bytes) {
  const double asked = std::ceil(bytes / (2 * mebibyte)) * 2 * mebibyte;
  char text[32];
  if (asked > 1024 * mebibyte) {
    std::snprintf(text, sizeof text, "%.2f GiB", asked / (1024 * mebibyte));
  } else {
    std::snprintf(text, sizeof text, "%.2f MiB", asked / mebibyte);
  }
  return text;
}

TEST(DiagnosisTensors, EveryLargeWeightIsFoundBackFromItsPrintedSize) {
  for (const char* id : {"mistral-7b-v0.3", "llama-2-7b-hf", "meta-llama-3-8b", "qwen2.5-7b", "gemma-2-2b"}) {
    const run::ModelEntry* entry = catalog().find_model(id);
    if (entry == nullptr) continue;
    const std::string request = R"({"model": ")" + std::string(id) + R"("})";
    for (const model::PlacedLinear& placed : model::linears(entry->network)) {
      const double elements =
          static_cast<double>(placed.linear->in) * static_cast<double>(placed.linear->out);
      for (const int size : {2, 4}) {
        if (elements * size <= 20 * mebibyte) continue;
        const auto found = matches(printed(elements * size), request);
        const bool named = std::any_of(found.begin(), found.end(), [&](const Match& match) {
          return match.element == size && match.bytes == elements * size;
        });
        EXPECT_TRUE(named) << id << " " << placed.linear->path << " x " << size;
      }
    }
  }
}

TEST(DiagnosisTensors, LogitsOfTheStatedBatchAndLengthAreTheCause) {
  const auto of = [](const char* batch) {
    return explained(
        std::string("QLoRA of Llama 3.1 8B on my RTX 4090, batch size ") + batch +
        ", max_seq_length 4096, gradient checkpointing on. After some steps:\n"
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 7.83 GiB. GPU 0 has a total capacity "
        "of 23.64 GiB of which 4.11 GiB is free. Including non-PyTorch memory, this process has 19.52 GiB "
        "memory in use. Of the allocated memory 18.60 GiB is allocated by PyTorch, and 480.12 MiB is "
        "reserved "
        "by PyTorch but unallocated.");
  };
  const auto four = of("4"), two = of("2");
  EXPECT_EQ(four.causes.front().cause->id, "logits_peak");
  EXPECT_GT(four.causes.front().confidence, two.causes.front().confidence);
}

}  // namespace
}  // namespace plimsoll::diagnosis
