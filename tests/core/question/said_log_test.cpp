// Settings that trainers print when they start.
#include <gtest/gtest.h>

#include "core/question/said_request.h"
#include "tests/core/question/said.h"

namespace plimsoll::question {
namespace {

constexpr const char* banner =
    "[INFO|trainer.py:2414] >> ***** Running training *****\n"
    "[INFO|trainer.py:2417] >>   Instantaneous batch size per device = 4\n"
    "[INFO|trainer.py:2420] >>   Total train batch size (w. parallel, distributed & accumulation) = 64\n"
    "[INFO|trainer.py:2421] >>   Gradient Accumulation steps = 8\n"
    "[INFO|trainer.py:2423] >>   Number of trainable parameters = 41,943,040\n";
constexpr const char* deepspeed =
    "[INFO] [config.py:997:print]   train_batch_size ............. 128\n"
    "[INFO] [config.py:997:print]   train_micro_batch_size_per_gpu  4\n"
    "[INFO] [config.py:997:print]   gradient_accumulation_steps .. 8\n"
    "[INFO] [config.py:997:print]   bfloat16_enabled ............. True\n"
    "[INFO] [config.py:997:print]   zero_optimization_stage ...... 2\n"
    "[INFO] [config.py:997:print]   world_size ................... 4\n";

TEST(SaidLog, TheBannerOfTheTrainerIsRead) {
  EXPECT_EQ(value_of(banner, "/training/per_device_train_batch_size"), "4");
  EXPECT_EQ(value_of(banner, "/training/gradient_accumulation_steps"), "8");
  EXPECT_FALSE(said(banner).method);  // of which model they are so many is not said
}

TEST(SaidLog, FewTrainableParametersOfAModelAreAdapters) {
  const std::string text = std::string("Llama-3.1-8B dies:\n") + banner;
  EXPECT_EQ(said(text).methods, (std::vector<Method>{Method::lora}));
  EXPECT_EQ(said("Llama-3.1-8B: Number of trainable parameters = 8,030,261,248").methods,
            (std::vector<Method>{Method::full}));
}

TEST(SaidLog, UnslothsBannerAndPeftsLineAreRead) {
  const char* unsloth =
      "O^O/ \\_/ \\    Batch size per device = 8 | Gradient accumulation steps = 4\n"
      "\\        /    Data Parallel GPUs = 1 | Total batch size (8 x 4 x 1) = 32\n";
  EXPECT_EQ(value_of(unsloth, "/training/per_device_train_batch_size"), "8");
  EXPECT_EQ(value_of(unsloth, "/training/gradient_accumulation_steps"), "4");
  const char* peft =
      "Llama-3.1-8B\ntrainable params: 41,943,040 || all params: 8,072,204,288 || trainable%: 0.5196";
  EXPECT_EQ(said(peft).methods, (std::vector<Method>{Method::lora}));
}

TEST(SaidLog, WhatDeepSpeedPrintsOfItsSettingsIsRead) {
  EXPECT_EQ(value_of(deepspeed, "/training/per_device_train_batch_size"), "4");
  EXPECT_EQ(value_of(deepspeed, "/training/gradient_accumulation_steps"), "8");
  EXPECT_EQ(value_of(deepspeed, "/training/bf16"), "true");
  EXPECT_EQ(value_of(deepspeed, "/parallel/strategy"), "\"zero2\"");
  EXPECT_EQ(value_of(deepspeed, "/parallel/num_gpus"), "4");
}

}  // namespace
}  // namespace plimsoll::question
