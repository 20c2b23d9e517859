// Several files of one run, read as one request.
#include "core/report/join.h"

#include <gtest/gtest.h>

#include "core/report/exchange.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

using json::Json;

Json import_of(std::string_view text, std::string_view command = "") {
  json::Errors errors;
  return json::parse(import_text(text, "", presets(), "", command), errors).value_or(Json());
}

constexpr const char* deepspeed =
    R"({"zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"}}, "train_batch_size": "auto",
        "gradient_accumulation_steps": 2, "train_micro_batch_size_per_gpu": "auto"})";
constexpr const char* command =
    "accelerate launch --num_processes 8 --mixed_precision bf16 train.py --model_name_or_path "
    "meta-llama/Llama-3.1-8B";
constexpr const char* script =
    "from trl import SFTConfig\nargs = SFTConfig(per_device_train_batch_size=1, "
    "gradient_accumulation_steps=16,\n  gradient_checkpointing=True, bf16=True)\n";

TEST(Join, ALauncherAScriptAndDeepSpeedsFileAreOneRun) {
  const Json whole = joined({import_of(deepspeed), import_of(command), import_of(script)}, presets());
  const Json& request = whole.at("request");
  EXPECT_EQ(at(request, "/model"), "meta-llama/Llama-3.1-8B");
  EXPECT_EQ(at(request, "/parallel/num_gpus"), 8);
  EXPECT_EQ(at(request, "/parallel/strategy"), "zero3");
  EXPECT_EQ(at(request, "/parallel/zero_optimization/offload_optimizer/device"), "cpu");
  EXPECT_EQ(at(request, "/training/per_device_train_batch_size"), 1);
  EXPECT_EQ(whole.at("partial"), false);
  EXPECT_EQ(whole.at("leads"), 1);
  for (const Json& one : whole.at("missing")) EXPECT_NE(one.at("pointer"), "/parallel/num_gpus");
}

// A launcher's "hf" is what is taken for want of a trainer.
TEST(Join, TheLibraryIsThatOfTheTrainer) {
  EXPECT_EQ(at(joined({import_of(command), import_of(script)}, presets()), "/request/stack"), "trl");
}

TEST(Join, WhatTwoFilesSayOtherwiseIsTheLeadersAndSaidToBe) {
  const Json whole = joined(
      {import_of("SFTTrainer(model=\"Qwen/Qwen3-8B\", args=SFTConfig(gradient_accumulation_steps=16))\n"),
       import_of(deepspeed)},
      presets());
  EXPECT_EQ(at(whole, "/request/training/gradient_accumulation_steps"), 16);
  bool told = false;
  for (const Json& key : whole.at("keys"))
    told = told || (key.at("use") == "implied" && key.contains("message") &&
                    key.at("message") == "another of these files says otherwise");
  EXPECT_TRUE(told);
}

TEST(Join, AFileOfAnotherModelIsAnotherRuns) {
  const Json whole = joined(
      {import_of("SFTTrainer(model=\"Qwen/Qwen3-8B\", args=SFTConfig(bf16=True))\n"), import_of(command)},
      presets());
  EXPECT_EQ(at(whole, "/request/model"), at(import_of(command), "/request/model"));
  EXPECT_FALSE(whole.at("request").at("training").contains("gradient_checkpointing"));
  EXPECT_NE(json::write(whole.at("notes")).find("of Qwen/Qwen3-8B, which are another run's"),
            std::string::npos);
}

TEST(Join, TheFlagsOfACommandWinOverTheFileThatItStarts) {
  const char* settings =
      R"({"model_name_or_path": "meta-llama/Llama-3.1-8B", "per_device_train_batch_size": 8, "max_length": 4096,
          "learning_rate": 1e-4, "bf16": true, "output_dir": "out"})";
  const Json launched =
      import_of("accelerate launch run_sft.py --config sft.yaml --per_device_train_batch_size 4");
  EXPECT_EQ(launched.at("format").at("command"), true);
  for (const auto& order : {std::vector{import_of(settings), launched}, {launched, import_of(settings)}}) {
    const Json whole = joined(order, presets());
    EXPECT_EQ(at(whole, "/request/training/per_device_train_batch_size"), 4);
    EXPECT_EQ(at(whole, "/request/training/max_length"), 4096);
    EXPECT_EQ(whole.at("flags"), Json::array({"/training/per_device_train_batch_size"}));
    for (const Json& note : whole.at("notes"))
      EXPECT_EQ(note.get<std::string>().find("not here"), std::string::npos) << note;
  }
}

TEST(Join, ACommandOfTheSameToolAsItsFileIsNoSecondFile) {
  const Json file = import_of(
      R"({"base_model": "meta-llama/Llama-3.1-8B", "adapter": "lora", "lora_r": 8, "micro_batch_size": 2,
          "sequence_len": 8192, "datasets": [{"path": "x", "type": "alpaca"}]})");
  for (const char* command :
       {"axolotl train axo.yaml --micro-batch-size 1 --sequence-len 4096",
        "accelerate launch -m axolotl.cli.train axo.yaml --micro_batch_size 1 --sequence_len 4096"}) {
    const Json whole = joined({import_of(command), file}, presets());
    EXPECT_EQ(at(whole, "/request/training/per_device_train_batch_size"), 1) << command;
    EXPECT_EQ(at(whole, "/request/training/max_length"), 4096) << command;
    EXPECT_EQ(at(whole, "/request/stack"), "axolotl") << command;
  }
}

// argparse, fields of a dataclass, fire: what the command beside a script gives its flags is what they are.
TEST(Join, AScriptIsReadAsTheCommandBesideItStartsIt) {
  const char* parsed =
      "import argparse\nfrom trl import SFTTrainer, SFTConfig\np = argparse.ArgumentParser()\n"
      "p.add_argument('--model', default='gpt2')\np.add_argument('--bs', '-b', type=int, default=2)\n"
      "p.add_argument('--pack', action='store_true')\nargs = p.parse_args()\n"
      "SFTTrainer(model=args.model, args=SFTConfig(per_device_train_batch_size=args.bs, "
      "packing=args.pack)).train()\n";
  const char* fields =
      "from dataclasses import dataclass\nfrom transformers import HfArgumentParser\n"
      "from trl import SFTTrainer, SFTConfig\n@dataclass\nclass Own:\n  model: str = 'gpt2'\n  bs: int = 2\n"
      "  pack: bool = False\n(own,) = HfArgumentParser(Own).parse_args_into_dataclasses()\n"
      "SFTTrainer(model=own.model, args=SFTConfig(per_device_train_batch_size=own.bs, "
      "packing=own.pack)).train()\n";
  const char* fire =
      "import fire\nfrom trl import SFTTrainer, SFTConfig\ndef main(model='gpt2', bs=2, pack=False):\n"
      "  SFTTrainer(model=model, args=SFTConfig(per_device_train_batch_size=bs, packing=pack)).train()\n"
      "fire.Fire(main)\n";
  const char* started = "torchrun --nproc_per_node 2 train.py --model Qwen/Qwen3-8B --bs 1 --pack True";
  for (const char* source : {parsed, fields, fire}) {
    const Json whole = joined({import_of(source, started), import_of(started)}, presets());
    const Json& request = whole.at("request");
    EXPECT_EQ(at(request, "/model"), "Qwen/Qwen3-8B") << source;
    EXPECT_EQ(at(request, "/training/per_device_train_batch_size"), 1) << source;
    EXPECT_EQ(at(request, "/training/packing"), true) << source;
    EXPECT_EQ(at(request, "/parallel/num_gpus"), 2) << source;
    for (const Json& key : whole.at("keys")) EXPECT_NE(key.at("use"), "unknown") << key << source;
    for (const Json& note : whole.at("notes"))
      EXPECT_EQ(note.get<std::string>().find("defaults"), std::string::npos) << note << source;
    EXPECT_EQ(at(import_of(source), "/request/model"), "gpt2") << "alone its defaults count";
  }
}

// A page or a script may hand over anything.
TEST(Join, WhatIsNoImportStaysOut) {
  const Json torn = {{"request", {{"stack", "trl"}}}, {"counts", {{"used", 9}}}};
  const Json alone = joined({import_of(command)}, presets());
  EXPECT_EQ(joined({import_of(command), torn, 3, Json::array()}, presets()), alone);
  EXPECT_EQ(joined({torn}, presets()), torn);
}

TEST(Join, OfTextsThatAreNoFilesTheFirstAnswerIsGiven) {
  EXPECT_EQ(joined({import_of("nothing here"), import_of("nor here")}, presets()).at("ok"), false);
  EXPECT_TRUE(joined({}, presets()).is_null());
  EXPECT_EQ(joined({import_of("nothing here"), import_of(command)}, presets()).at("ok"), true);
}

}  // namespace
}  // namespace plimsoll::report
