// The GPU that a script or a notebook names itself: read where the name is that of one alone, else asked for.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/report/exchange.h"
#include "tests/core/golden.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

using exchange::Import;

Import read_named(const std::string& text) {
  return import_known(exchange::read_text(text), text, presets());
}

Json told(const Import& import, const std::string& pointer) {
  const Json::json_pointer where(pointer);
  return import.request.contains(where) ? import.request[where] : Json();
}

std::string asked_for(const Import& import, const std::string& pointer) {
  const auto found = std::find_if(import.missing.begin(), import.missing.end(),
                                  [&](const auto& missing) { return missing.pointer == pointer; });
  return found == import.missing.end() ? "" : found->message;
}

std::string on_modal(const std::string& card) {
  return "COUNT = 2\n@app.function(gpu='A10G')\ndef answer():\n    pass\n"
         "@app.function(gpu=" +
         card +
         ", timeout=3600)\ndef train():\n"
         "    model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen3-4B')\n"
         "    SFTTrainer(model=model, args=SFTConfig('out', max_length=512)).train()\n"
         "@app.local_entrypoint()\ndef main():\n    train.remote()\n";
}

std::string on_colab(const std::string& card, const std::string& attention = "sdpa") {
  return R"({"nbformat": 4, "metadata": {"accelerator": "GPU", "colab": {"gpuType": ")" + card +
         R"("}}, "cells": [{"cell_type": "code", "source": ["model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen3-4B', )" +
         "attn_implementation='" + attention +
         R"(')\n", "Trainer(model=model, args=TrainingArguments('out'))\n"]}]})";
}

TEST(NamedCard, OfTheFunctionThatTrainsIsRead) {
  const Import one = read_named(on_modal("'L40S'"));
  EXPECT_EQ(told(one, "/hardware/gpu"), Json("l40s"));
  EXPECT_EQ(told(one, "/parallel/num_gpus"), Json(1));
  EXPECT_EQ(asked_for(one, "/hardware/gpu"), "");
  for (const char* two : {"'A100-80GB:2'", "f'A100-80GB:{COUNT}'", "modal.gpu.A100(size='80GB', count=2)"}) {
    const Import import = read_named(on_modal(two));
    EXPECT_EQ(told(import, "/hardware/gpu"), Json("a100-sxm-80")) << two;
    EXPECT_EQ(told(import, "/parallel/num_gpus"), Json(2)) << two;
  }
}

TEST(NamedCard, OfTheClassThatTrainsIsRead) {
  const Import import = read_named(
      "@app.cls(gpu='H200')\nclass Tuned:\n    @modal.method()\n    def run(self):\n"
      "        model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen3-4B')\n"
      "        SFTTrainer(model=model, args=SFTConfig('out', max_length=512)).train()\n");
  EXPECT_EQ(told(import, "/hardware/gpu"), Json("h200-sxm"));
}

TEST(NamedCard, ThatMayBeSeveralIsAskedFor) {
  const Import import = read_named(on_modal("'A100:4'"));
  EXPECT_TRUE(told(import, "/hardware/gpu").is_null());
  EXPECT_NE(asked_for(import, "/hardware/gpu").find("\"A100\""), std::string::npos);
  EXPECT_EQ(told(import, "/parallel/num_gpus"), Json(4));
  EXPECT_NE(asked_for(read_named(on_modal("['H100', 'A100']")), "/hardware/gpu"), "");
  EXPECT_NE(asked_for(read_named(on_modal("CARD")), "/hardware/gpu"), "");
}

TEST(NamedCard, OfANotebooksRuntimeIsRead) {
  const Import import = read_named(on_colab("T4"));
  EXPECT_EQ(told(import, "/hardware/gpu"), Json("t4"));
  EXPECT_NE(asked_for(read_named(on_colab("A100")), "/hardware/gpu"), "");
}

TEST(NamedCard, OfAJobIsRead) {
  const auto job = [](const std::string& asked) {
    return read_named("#!/bin/bash\n#SBATCH " + asked +
                      "\ntorchrun --nproc_per_node 2 train.py --model_name_or_path Qwen/Qwen3-4B "
                      "--per_device_train_batch_size 1 --bf16 True\n");
  };
  EXPECT_EQ(told(job("--gres=gpu:l40s:2"), "/hardware/gpu"), Json("l40s"));
  EXPECT_EQ(told(job("--gpus-per-node=l40s:2"), "/hardware/gpu"), Json("l40s"));
  EXPECT_NE(asked_for(job("--gres=gpu:a100:2"), "/hardware/gpu"), "");
  EXPECT_TRUE(told(job("--gres=gpu:2"), "/hardware/gpu").is_null());
}

TEST(NamedCard, WhereTheRunCannotBeIsAskedFor) {
  const Import import = read_named(on_colab("T4", "flash_attention_2"));
  EXPECT_TRUE(told(import, "/hardware/gpu").is_null());
  EXPECT_NE(asked_for(import, "/hardware/gpu").find("does not run"), std::string::npos);
}

}  // namespace
}  // namespace plimsoll::report
