// Scripts that say at their head how they are started, as TRL's examples do.
#include "core/exchange/docstring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/exchange/export.h"
#include "core/recipe/recipe.h"
#include "core/report/diagnose.h"
#include "tests/drawn/request.h"
#ifndef __EMSCRIPTEN__
#include "core/cli/texts.h"
#endif

namespace plimsoll::exchange {
namespace {

using json::Json;
using testing::HasSubstr;
using testing::Not;

const std::string trl_script = R"x(# Copyright 2026
# /// script
# dependencies = ["trl"]
# ///

"""
pip install pillow

# Full training
accelerate launch \
    --config_file examples/accelerate_configs/deepspeed_zero3.yaml \
    examples/scripts/sft_vlm.py \
    --model_name_or_path Qwen/Qwen2.5-VL-3B-Instruct \
    --per_device_train_batch_size 2 \
    --dtype bfloat16

# LoRA
python examples/scripts/sft_vlm.py --model_name_or_path Qwen/Qwen2.5-VL-3B-Instruct --use_peft --lora_r 32
"""

from trl import ModelConfig, ScriptArguments, SFTConfig, SFTTrainer, TrlParser

parser = TrlParser((ScriptArguments, SFTConfig, ModelConfig))
script_args, training_args, model_args = parser.parse_args_and_config()
trainer = SFTTrainer(model=model_args.model_name_or_path, args=training_args, train_dataset=None)
trainer.train()
)x";

TEST(Docstring, TheFirstCommandAtTheHeadOfAScriptStartsIt) {
  EXPECT_EQ(language_of(trl_script), Language::python);
  EXPECT_THAT(std::string(started_in(trl_script)), HasSubstr("--per_device_train_batch_size 2"));
  EXPECT_THAT(std::string(started_in(trl_script)), Not(HasSubstr("--use_peft")));
}

TEST(Docstring, AScriptThatReadsNoArgumentsIsNotStartedByItsUsage) {
  EXPECT_EQ(started_in("\"\"\"\npython train.py --lr 1e-4\n\"\"\"\nimport torch\nbatch_size = 4\n"), "");
  EXPECT_EQ(started_in("import torch\n\"\"\"\npython train.py --lr 1e-4\n\"\"\"\nArgumentParser()\n"), "");
  EXPECT_EQ(started_in("\"\"\"\npython train.py --lr"), "");
  EXPECT_EQ(docstring_of(""), "");
}

TEST(Docstring, ASourceIsKnownByItsHead) {
  EXPECT_TRUE(begins_as_source(trl_script));
  EXPECT_TRUE(begins_as_source("# mine\n\nfrom trl import SFTTrainer\nx = 1\n"));
  EXPECT_TRUE(begins_as_source("#!/bin/bash\n# lower it when OOM\npython train.py\n"));
  EXPECT_FALSE(begins_as_source("# Out of memory\nIt dies at step 3 with this script:\nimport torch\n"));
  EXPECT_FALSE(begins_as_source("from yesterday on it runs out of memory"));
  EXPECT_FALSE(begins_as_source(""));
}

TEST(Docstring, WhatASourceSaysIsNobodysReport) {
  json::Errors errors;
  const auto found = [&](const std::string& text) {
    return json::parse(report::diagnosis_text(text, "", "", drawn::presets()), errors)->at("ok");
  };
  EXPECT_EQ(found(trl_script), false);
  EXPECT_EQ(found("import torch\nr = 64  # reduce if out of memory\nprint(\"it ran out of memory\")\n"),
            false);
  // What the run printed behind it does.
  EXPECT_EQ(found(trl_script + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n"),
            true);
  EXPECT_EQ(found("It runs out of memory with this:\nimport torch\nx = 1\n"), true);
}

#ifndef __EMSCRIPTEN__
TEST(Docstring, ItsFlagsAreThoseOfTheRun) {
  const Json read = cli::import_texts({trl_script}, drawn::presets());
  EXPECT_EQ(read["request"]["model"], "Qwen/Qwen2.5-VL-3B-Instruct");
  EXPECT_EQ(read["request"]["stack"], "trl");
  EXPECT_EQ(read["request"]["parallel"]["strategy"], "zero3");
  EXPECT_EQ(read["request"]["training"]["per_device_train_batch_size"], 2);
  EXPECT_FALSE(read["request"].contains("peft"));
}

TEST(Docstring, ACommandThatIsGivenCountsInItsPlace) {
  const std::string other = "python sft_vlm.py --model_name_or_path gpt2 --per_device_train_batch_size 7";
  const Json read = cli::import_texts({trl_script, other}, drawn::presets());
  EXPECT_EQ(read["request"]["model"], "gpt2");
  EXPECT_EQ(read["request"]["training"]["per_device_train_batch_size"], 7);
}
#endif

std::string exported(const char* format) {
  json::Errors errors;
  const Json request = {{"model", "llama-3.1-8b"},
                        {"peft", {{"r", 16}, {"target_modules", "all-linear"}}},
                        {"quantization", {{"load_in_4bit", true}}}};
  return export_as(*find_format(format), recipe::read_request(request, errors)).text;
}

TEST(Exported, AllLinearsHaveTheWordOfTheirLibrary) {
  // LLaMA-Factory 0.9.5 src/llamafactory/model/adapter.py _setup_lora_tuning: `finetuning_args.lora_target[0] == "all"`.
  EXPECT_THAT(exported("llamafactory"), HasSubstr("lora_target: all\n"));
}

TEST(Exported, AScriptOfAQuantisedBaseCallsThePreparationThatIsCounted) {
  EXPECT_THAT(exported("hf"), HasSubstr("prepare_model_for_kbit_training(model"));
}

}  // namespace
}  // namespace plimsoll::exchange
