// What people paste every day: scripts with a command line of their own, classes of settings, launchers. Each
// was written, with the request that its author meant, before any was read.
#include <gtest/gtest.h>

#include "core/report/exchange.h"
#include "tests/core/golden.h"
#include "tests/core/report_answers.h"
#ifndef __EMSCRIPTEN__
#include "core/cli/yaml.h"
#endif

namespace plimsoll::report {
namespace {

using exchange::Import;

exchange::Document document_of(const std::string& text) {
#ifdef __EMSCRIPTEN__
  return exchange::read_text(text);
#else
  return cli::read_document(text);
#endif
}

Import read_paste(const std::string& text) { return import_known(document_of(text), text, presets()); }

Json said(const Import& import, const std::string& pointer) {
  const Json::json_pointer where(pointer);
  return import.request.contains(where) ? import.request[where] : Json();
}

bool is_missing(const Import& import, const std::string& pointer) {
  return std::any_of(import.missing.begin(), import.missing.end(),
                     [&](const auto& missing) { return missing.pointer == pointer; });
}

void expect_as_meant(const Json& paste, const Import& import) {
  for (const auto& [pointer, value] : paste.at("expect").items()) {
    EXPECT_EQ(said(import, pointer), value) << pointer;
  }
  for (const Json& pointer : paste.value("missing", Json::array()))
    EXPECT_TRUE(is_missing(import, pointer.get<std::string>())) << pointer;
  for (const Json& pointer : paste.value("absent", Json::array()))
    EXPECT_EQ(said(import, pointer.get<std::string>()), Json()) << pointer;
}

TEST(Everyday, PastesSayWhatTheirAuthorsMeant) {
  const Json pastes = Json::parse(golden_file("everyday_pastes.json"));
  ASSERT_EQ(pastes.size(), 30U);
  for (const Json& paste : pastes) {
    SCOPED_TRACE(paste.at("name").get<std::string>());
    const std::string text = paste.at("text");
#ifdef __EMSCRIPTEN__
    if (exchange::language_of(text) == exchange::Language::yaml) continue;  // parsed outside the core
#endif
    expect_as_meant(paste, read_paste(text));
  }
}

// The class of the model is the task: transformers trainer.py has none of its own.
TEST(Everyday, AModelForSequenceClassificationIsClassification) {
  const std::string trainer =
      "trainer = Trainer(model=model, args=TrainingArguments(output_dir='o', bf16=True), train_dataset=d)\n";
  const Import plain = read_paste(
      "from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments\n"
      "model = AutoModelForSequenceClassification.from_pretrained('FacebookAI/roberta-large', "
      "num_labels=3)\n" +
      trainer);
  EXPECT_EQ(said(plain, "/task"), Json("classification"));
  // unslothai/notebooks nb/bert_classification.ipynb prints 395,837,446 trainable parameters.
  const Import unsloth = read_paste(
      "from unsloth import FastModel\nfrom transformers import AutoModelForSequenceClassification, Trainer, "
      "TrainingArguments\n"
      "model, tokenizer = FastModel.from_pretrained(model_name='answerdotai/ModernBERT-large', "
      "auto_model=AutoModelForSequenceClassification, num_labels=6, full_finetuning=True, "
      "load_in_4bit=False)\n" +
      trainer);
  EXPECT_EQ(said(unsloth, "/task"), Json("classification"));
  const Json report = answer(unsloth.request);
  EXPECT_EQ(at(report, "/model/trainable"), 395837446);
  // A model that judges in another trainer's task is no classifier.
  const Import ppo = read_paste(
      "reward = AutoModelForSequenceClassification.from_pretrained('trl-lib/r', num_labels=1)\n"
      "trainer = RewardTrainer(model=reward, args=RewardConfig(output_dir='o'), train_dataset=d)\n");
  EXPECT_EQ(said(ppo, "/task"), Json("reward"));
}

// The notebooks ask the card, and so does Unsloth; without adapters its trainer is only told.
TEST(Everyday, WhatUnslothsNotebooksAskTheCardIsLeftToTheCard) {
  const std::string begin =
      "from unsloth import FastLanguageModel, is_bfloat16_supported\nmodel, t = FastLanguageModel.from_pretrained('unsloth/Qwen2.5-7B'";
  const std::string end =
      "trainer = SFTTrainer(model=model, args=SFTConfig(output_dir='o', fp16=not is_bfloat16_supported(), bf16=is_bfloat16_supported()))\n";
  const Import adapters =
      read_paste(begin + ")\nmodel = FastLanguageModel.get_peft_model(model, r=16)\n" + end);
  EXPECT_EQ(said(adapters, "/training/bf16"), Json());
  EXPECT_EQ(said(adapters, "/training/fp16"), Json());
  EXPECT_EQ(said(read_paste(begin + ", full_finetuning=True)\n" + end), "/training/bf16"), Json(true));
}

TEST(Everyday, AFileThatSaysThatAllWeightsAreTrainedIsNotAskedForAMethod) {
  const auto full = [](const std::string& text) {
    const Json request = read_paste(text).request;
    return request.contains("peft") && request["peft"].is_null();
  };
  const std::string unsloth =
      "from unsloth import FastModel\nmodel, t = FastModel.from_pretrained('unsloth/gemma-3-270m-it'";
  EXPECT_TRUE(full(unsloth + ", full_finetuning=True)\n"));
  EXPECT_FALSE(full(unsloth + ")\n"));
#ifndef __EMSCRIPTEN__
  const std::string factory =
      "model_name_or_path: Qwen/Qwen3-4B\nstage: sft\ndo_train: true\ntemplate: qwen3\ncutoff_len: 2048\n";
  EXPECT_TRUE(full(factory + "finetuning_type: full\n"));
  EXPECT_FALSE(full(factory + "finetuning_type: lora\nlora_rank: 8\n"));
  const std::string axolotl = "base_model: Qwen/Qwen3-4B\nsequence_len: 2048\nmicro_batch_size: 1\n";
  EXPECT_TRUE(full(axolotl));
  EXPECT_FALSE(full(axolotl + "adapter: lora\nlora_r: 8\n"));
#endif
}

TEST(Everyday, DefaultsOfAScriptsFlagsAreSaidToBeThat) {
  const Import import = read_paste(
      "parser.add_argument('--batch-size', type=int, default=4)\n"
      "parser.add_argument('--wandb', default='off')\n"
      "args = parser.parse_args()\n"
      "print(args.wandb)\n"
      "t = TrainingArguments('out', per_device_train_batch_size=args.batch_size)\n");
  EXPECT_EQ(said(import, "/training/per_device_train_batch_size"), Json(4));
  ASSERT_EQ(import.notes.size(), 1U);
  EXPECT_NE(import.notes.front().find("batch_size"), std::string::npos);
  EXPECT_EQ(import.notes.front().find("wandb"), std::string::npos);
}

TEST(Everyday, OfTwoTrainersInAScriptTheLastIsRead) {
  const Import import = read_paste(
      "model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen3-4B')\n"
      "a = SFTConfig(output_dir='a', per_device_train_batch_size=4, num_train_epochs=2)\n"
      "SFTTrainer(model=model, args=a).train()\n"
      "b = GRPOConfig(output_dir='b', per_device_train_batch_size=8, num_generations=8, max_steps=300)\n"
      "GRPOTrainer(model=model, args=b).train()\n");
  EXPECT_EQ(said(import, "/training/per_device_train_batch_size"), Json(8));
  EXPECT_EQ(said(import, "/training/max_steps"), Json(300));
  EXPECT_EQ(said(import, "/rl/num_generations"), Json(8));
  EXPECT_EQ(said(import, "/data/epochs"), Json());
}

TEST(Everyday, ABlockIsLeftOutWhenItsFlagIsKnownToBeOffAndNoTrainingIsInIt) {
  const std::string script =
      "parser.add_argument('--four_bit', action='store_true')\n"
      "parser.add_argument('--train', action='store_true')\n"
      "args = parser.parse_args()\n"
      "if args.four_bit:\n"
      "    bnb = BitsAndBytesConfig(load_in_4bit=True)\n"
      "if args.train:\n"
      "    t = TrainingArguments('out', per_device_train_batch_size=2)\n";
  const Import import = read_paste(script);
  EXPECT_EQ(said(import, "/quantization/load_in_4bit"), Json());
  EXPECT_EQ(said(import, "/training/per_device_train_batch_size"), Json(2));
}

TEST(Everyday, ModulesThatAScriptOfOnesOwnKnowsAreAskedFor) {
  const Import import = read_paste(
      "bash launch.sh src/train.py --model_name_or_path Qwen/Qwen3-VL-4B-Instruct --tuning_strategy lora \\\n"
      "  --lora_r 64 --per_device_train_batch_size 1\n");
  EXPECT_TRUE(import.errors.empty());
  EXPECT_EQ(said(import, "/peft/target_modules"), Json("all-linear"));
  EXPECT_TRUE(is_missing(import, "/peft/target_modules"));
}

// A loop over a script's arguments sets what nobody gave: the default below it holds.
TEST(Everyday, ACommandIsStartedWithoutArguments) {
  const Import import = read_paste(
      "while (( \"$#\" )); do\n  case \"$1\" in\n    --bsz)\n      bsz=\"$2\"\n      shift 2\n      ;;\n  esac\ndone\n"
      "bsz=${bsz:-4}\naccelerate launch train_dpo.py --model_name_or_path Qwen/Qwen3-4B "
      "--per_device_train_batch_size $bsz --lora_dim 16\n");
  EXPECT_EQ(said(import, "/training/per_device_train_batch_size"), Json(4));
  EXPECT_EQ(said(import, "/task"), Json("dpo"));
  EXPECT_EQ(said(import, "/peft/r"), Json(16));
}

TEST(Everyday, AModelThatNoneStandsForIsMissing) {
  const Import import = read_paste(
      "parser.add_argument('--model', default=None)\n"
      "args = parser.parse_args()\n"
      "if args.model:\n"
      "    model = AutoModelForCausalLM.from_pretrained(args.model, torch_dtype=torch.float16)\n"
      "t = TrainingArguments('out', per_device_train_batch_size=2)\n");
  EXPECT_TRUE(is_missing(import, "/model"));
  EXPECT_EQ(said(import, "/model_args/dtype"), Json("float16"));
}

#ifndef __EMSCRIPTEN__
// trl/trainer/*_config.py: which of them has a key says which trainer a file is for.
TEST(EverydayTask, AFileForTrlIsOfTheTaskThatOneOfItsKeysNames) {
  const std::string begin =
      "model_name_or_path: Qwen/Qwen2.5-7B-Instruct\nper_device_train_batch_size: 2\nbf16: true\n";
  struct Case {
    const char *lines, *task;
    bool asked;
  };
  constexpr Case cases[] = {
      {"beta: 0.1\ndesirable_weight: 1.0\n", "kto", false},
      {"beta: 10\ngamma_beta_ratio: 0.5\nmax_prompt_length: 1800\n", "simpo", false},
      {"cpo_alpha: 0.0\nloss_type: simpo\nsimpo_gamma: 0.5\n", "simpo", false},
      {"cpo_alpha: 1.0\nloss_type: simpo\n", "cpo", false},
      {"center_rewards_coefficient: 0.01\n", "reward", false},
      {"num_generations: 8\nreward_clip_range: [-10, 10]\n", "rloo", false},
      {"num_generations: 8\nbeta: 0.0\n", "grpo", false},
      {"max_prompt_length: 512\nmax_completion_length: 1024\nuse_vllm: true\n", "grpo", false},
      {"vf_coef: 0.1\nnum_ppo_epochs: 4\n", "ppo", false},
      {"rpo_alpha: 1.0\nmax_length: 1024\n", "dpo", false},
      {"beta: 0.1\nmax_prompt_length: 1024\nmax_length: 2048\n", "dpo", true},
      {"beta: 0.1\nloss_type: sigmoid\n", "dpo", true},
      {"precompute_ref_log_probs: true\nmax_length: 2048\n", "dpo", true},
      {"# ORPOTrainer arguments\nbeta: 0.1\nmax_length: 2048\n", "orpo", false},
      {"# trl kto --config kto.yaml\nbeta: 0.1\n", "kto", false},
  };
  for (const Case& one : cases) {
    const Import import = read_paste(begin + one.lines);
    EXPECT_EQ(said(import, "/task"), Json(one.task)) << one.lines;
    EXPECT_EQ(is_missing(import, "/task"), one.asked) << one.lines;
    EXPECT_FALSE(import.notes.empty()) << one.lines;
    // A cap on prompts does not say how long they are; of what the policy writes it is all that is known.
    const bool online = std::string_view(one.task) == "grpo";
    EXPECT_TRUE(online || said(import, "/rl/max_prompt_length").is_null()) << one.lines;
  }
  EXPECT_EQ(said(read_paste(begin + "packing: true\nmax_length: 2048\nloss_type: chunked_nll\n"), "/task"),
            Json());
  EXPECT_EQ(said(read_paste("# trl sft --config sft.yaml\n" + begin + "max_prompt_length: 512\n"), "/task"),
            Json());
}

// src/llamafactory/train/trainer_utils.py create_reward_model.
TEST(Everyday, LlamaFactorysRewardIsAnAdapterUnlessItSaysAModel) {
  const std::string text =
      "model_name_or_path: meta-llama/Meta-Llama-3-8B-Instruct\nreward_model: saves/reward\nstage: ppo\ndo_train: true\n"
      "finetuning_type: lora\nlora_rank: 8\nlora_target: all\ncutoff_len: 2048\nper_device_train_batch_size: 1\n"
      "bf16: true\nmax_new_tokens: 512\n";
  const auto frozen = [](const std::string& file) {
    Json request = read_paste(file).request;
    request["hardware"]["gpu"] = "h100-sxm";
    double bytes = 0;
    for (const Json& instant : at(answer(request), "/memory/instants")) {
      for (const Json& one : instant["components"]) {
        if (one["id"] == "frozen_models") bytes = std::max(bytes, one["bytes"].get<double>());
      }
    }
    return bytes / 1073741824.0;
  };
  EXPECT_LT(frozen(text), 0.2);
  EXPECT_GT(frozen(text + "reward_model_type: full\n"), 14);
}

TEST(Everyday, TrainersThatAreNotReplayedAreRefusedByName) {
  const Import mistral = read_paste(
      "data:\n  instruct_data: ''\nmodel_id_or_path: ''\nlora:\n  rank: 64\nseq_len: 32768\nbatch_size: 1\n"
      "max_steps: 300\noptim:\n  lr: 6.e-5\nsave_adapters: true\n");
  ASSERT_FALSE(mistral.errors.empty());
  EXPECT_NE(mistral.errors[0].message.find("mistral-finetune"), std::string::npos)
      << mistral.errors[0].message;
  const Import xtuner = read_paste(
      "from mmengine.optim import AmpOptimWrapper\npretrained_model_name_or_path = 'meta-llama/Llama-2-7b-chat-hf'\n"
      "batch_size = 1\naccumulative_counts = 16\nmodel = dict(type=SupervisedFinetune, llm=dict(lora=dict(type=LoraConfig, "
      "r=64)))\noptim_wrapper = dict(type=AmpOptimWrapper, accumulative_counts=accumulative_counts)\n"
      "train_cfg = dict(type=TrainLoop, max_epochs=3)\n");
  ASSERT_FALSE(xtuner.errors.empty());
  EXPECT_NE(xtuner.errors[0].message.find("XTuner"), std::string::npos) << xtuner.errors[0].message;
}
#endif

// openrlhf/utils/deepspeed/deepspeed.py: train_batch_size counts all GPUs, whose number may stand elsewhere.
TEST(Everyday, OpenRlhfsWholeBatchIsSaidWhereTheAccumulationIsAsked) {
  const Import import = read_paste(
      "deepspeed --module openrlhf.cli.train_sft --train_batch_size 256 --micro_train_batch_size 2 --pretrain "
      "meta-llama/Meta-Llama-3-8B --bf16 --max_len 2048 --zero_stage 3");
  std::string asked;
  for (const auto& one : import.missing) {
    if (one.pointer == "/training/gradient_accumulation_steps") asked = one.message;
  }
  EXPECT_NE(asked.find("256 / 2 / their number"), std::string::npos) << asked;
}

}  // namespace
}  // namespace plimsoll::report
