// Scripts of a shell: variables, lists of arguments, whole numbers worked out, what a job asks Slurm for. The
// shapes are those of LLaVA's, InternVL's, Qwen-VL's, qlora's and LLaMA-Factory's published scripts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/exchange/import.h"
#include "core/exchange/patch.h"
#include "core/json/at.h"

namespace plimsoll::exchange {
namespace {

using json::at;
using json::Json;

Import from_script(std::string_view text) { return import_document(read_text(text), text); }

const char* const published_script = R"(#!/bin/bash
set -x
MODEL_NAME="Qwen/Qwen2.5-7B-Instruct"
GPUS=${GPUS:-8}
GLOBAL_BATCH_SIZE=128
BATCH_PER_DEVICE=4
GRAD_ACCUM_STEPS=$((GLOBAL_BATCH_SIZE / (BATCH_PER_DEVICE * GPUS)))
ARGS="--bf16 True --gradient_checkpointing True \
    --learning_rate 1e-4"
torchrun --nproc_per_node ${GPUS} train.py \
    --model_name_or_path $MODEL_NAME \
    --output_dir "out/${MODEL_NAME}" \
    --per_device_train_batch_size $BATCH_PER_DEVICE \
    --gradient_accumulation_steps $GRAD_ACCUM_STEPS \
    --model_max_length 2048 $ARGS
)";

// tloen/alpaca-lora finetune.py: 128 samples a step, 4 at once on each of 2 cards.
TEST(ExchangeShell, AWholeBatchBesideTheMicroBatchIsHowOftenItIsAdded) {
  const Import import = from_script(
      "torchrun --nproc_per_node=2 finetune.py --base_model meta-llama/Llama-2-7b-hf --batch_size 128 "
      "--micro_batch_size 4 --cutoff_len 512 --lora_r 8 --lora_target_modules '[q_proj,v_proj]'\n");
  ASSERT_TRUE(import.errors.empty());
  const Json& training = import.request["training"];
  EXPECT_EQ(at(training, "per_device_train_batch_size"), Json(4));
  EXPECT_EQ(at(training, "gradient_accumulation_steps"), Json(16));
  EXPECT_EQ(at(training, "max_length"), Json(512));
  EXPECT_EQ(at(import.request["peft"], "target_modules"), Json::array({"q_proj", "v_proj"}));
}

TEST(ExchangeShell, AFileBehindAModuleIsThatOfTheCommand) {
  const Import import = from_script("accelerate launch -m axolotl.cli.train config.yml\n");
  ASSERT_FALSE(import.errors.empty());
  EXPECT_EQ(import.errors.front().code, "settings_elsewhere");
  EXPECT_NE(import.errors.front().message.find("config.yml"), std::string::npos);
  EXPECT_EQ(from_script("accelerate launch -m axolotl.cli.train \"$CONFIG\"\n").errors.front().code,
            "settings_elsewhere");
}

TEST(ExchangeShell, VariablesStandForWhatTheyHold) {
  const Import import = from_script(published_script);
  ASSERT_TRUE(import.errors.empty()) << import.errors.front().message;
  EXPECT_EQ(import.model, "Qwen/Qwen2.5-7B-Instruct");
  const Json& training = import.request["training"];
  EXPECT_EQ(at(training, "per_device_train_batch_size"), Json(4));
  EXPECT_EQ(at(training, "gradient_accumulation_steps"), Json(4));
  EXPECT_EQ(at(training, "max_length"), Json(2048));
  EXPECT_EQ(at(training, "bf16"), Json(true));
  EXPECT_EQ(at(training, "gradient_checkpointing"), Json(true));
  EXPECT_EQ(at(import.request["parallel"], "num_gpus"), Json(8));
}

// The flags of rm, docker and their like are not those of the run.
TEST(ExchangeShell, ToolsBesideTheRunSayNothing) {
  const Import import = from_script(
      "#!/bin/bash\nrm -rf out && mkdir -p out\nif [ $# -ge 1 ]; then pip install -U transformers; fi\n"
      "N=4\ndocker run --gpus all image python train.py --model_name_or_path Qwen/Qwen3-4B --bf16 "
      "--gradient_accumulation_steps $(expr 16 / $N) | tee -a log\necho --done\n");
  ASSERT_TRUE(import.errors.empty()) << import.errors.front().message;
  EXPECT_EQ(import.model, "Qwen/Qwen3-4B");
  EXPECT_EQ(import.request["training"].value("gradient_accumulation_steps", Json()), Json(4));
  for (const Finding& found : import.findings) EXPECT_NE(found.use, Use::unknown) << found.path;
}

TEST(ExchangeShell, ACommandThatTrainsNothingIsRefused) {
  for (const char* text :
       {"docker build --build-arg A=1 --no-cache -t image .",
        "CUDA_VISIBLE_DEVICES=0,1 python -m vllm.entrypoints.api_server --port 8000 --host a"}) {
    const Import import = from_script(text);
    ASSERT_FALSE(import.errors.empty()) << text;
  }
}

TEST(ExchangeShell, AChangeOfASettingIsOneOfItsVariable) {
  const Document document = read_text(published_script);
  const Patch patch =
      patch_document(document, published_script, {{"/training/per_device_train_batch_size", 2}});
  ASSERT_TRUE(patch.errors.empty());
  EXPECT_THAT(patch.text, testing::HasSubstr("\nBATCH_PER_DEVICE=2\n"));
  EXPECT_THAT(patch.text, testing::HasSubstr("--per_device_train_batch_size $BATCH_PER_DEVICE"));
}

TEST(ExchangeShell, ANewFlagStandsBehindTheQuotesOfJson) {
  const std::string command =
      "swift sft --model Qwen/Qwen2.5-0.5B --max_length 2048 --gradient_checkpointing true "
      "--gradient_checkpointing_kwargs '{\"use_reentrant\": false}'";
  const Patch patch = patch_document(read_text(command), command,
                                     {{"/training/use_liger_kernel", true},
                                      {"/training/liger_kernel_config/fused_linear_cross_entropy", true}});
  ASSERT_TRUE(patch.errors.empty());
  EXPECT_THAT(patch.text,
              testing::HasSubstr("false}' --liger_kernel_config '{\"fused_linear_cross_entropy\":true}'"));
}

TEST(ExchangeShell, VariablesThatGrowEndWhereASettingEnds) {
  std::string text = "A=xxxxxxxxxxxxxxxx\n";
  for (int i = 0; i < 200; ++i) text += "A=$A$A$A$A\n";
  text += "torchrun --nproc_per_node 2 train.py --model_name_or_path $A --output_dir out\n";
  const Import import = from_script(text);
  EXPECT_LT(import.model.size(), 20000u);
}

TEST(ExchangeShell, WhatStandsInSingleQuotesStays) {
  const Import import = from_script(
      "B=4\npython train.py --model_name_or_path gpt2 --per_device_train_batch_size $B --output_dir '$B' "
      "--bf16 True --learning_rate 1e-4\n");
  EXPECT_EQ(at(import.request["training"], "per_device_train_batch_size"), Json(4));
}

TEST(ExchangeShell, AListOfArgumentsIsItsWords) {
  const Import import = from_script(R"(
ARGS=(
    --model_name_or_path gpt2
    --per_device_train_batch_size 3
    --bf16 True
)
accelerate launch --num_processes 2 train.py "${ARGS[@]}" --output_dir out
)");
  ASSERT_TRUE(import.errors.empty());
  EXPECT_EQ(import.model, "gpt2");
  EXPECT_EQ(at(import.request["training"], "per_device_train_batch_size"), Json(3));
}

TEST(ExchangeShell, TheGpusOfAJobAreThoseOfAllItsMachines) {
  const std::string command =
      "torchrun --nnodes $SLURM_NNODES --nproc_per_node 8 train.py --model_name_or_path gpt2 --output_dir "
      "out "
      "--per_device_train_batch_size 1 --learning_rate 1e-4\n";
  const Import launched = from_script("#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gres=gpu:8\n" + command);
  EXPECT_EQ(at(launched.request["parallel"], "num_gpus"), Json(16));
  const Import job = from_script(
      "#!/bin/bash\n#SBATCH --gres=gpu:a100:4\nsrun python train.py --model_name_or_path gpt2 --output_dir "
      "out "
      "--per_device_train_batch_size 1 --learning_rate 1e-4\n");
  EXPECT_EQ(at(job.request["parallel"], "num_gpus"), Json(4));
}

// qlora.py and LLaVA's scripts/v1_5/finetune_lora.sh parse flags of their own.
TEST(ExchangeShell, FlagsOfPublishedScriptsAreRead) {
  const Import qlora = from_script(
      "python qlora.py --model_name_or_path huggyllama/llama-7b --output_dir out --lora_r 64 --lora_modules "
      "all "
      "--double_quant --quant_type nf4 --bits 4 --source_max_len 16 --target_max_len 512 "
      "--per_device_train_batch_size 1\n");
  EXPECT_EQ(qlora.request["quantization"], Json({{"load_in_4bit", true},
                                                 {"bnb_4bit_quant_type", "nf4"},
                                                 {"bnb_4bit_use_double_quant", true},
                                                 {"prepare_for_kbit_training", true}}));
  EXPECT_EQ(at(qlora.request["training"], "max_length"), Json(528));
  EXPECT_EQ(at(qlora.request["peft"], "target_modules"), Json("all-linear"));
  const Import llava = from_script(
      "deepspeed llava/train/train_mem.py --lora_enable True --lora_r 128 --deepspeed ./scripts/zero3.json "
      "--model_name_or_path lmsys/vicuna-13b-v1.5 --vision_tower openai/clip-vit-large-patch14-336 "
      "--model_max_length 2048 --per_device_train_batch_size 16 --output_dir out\n");
  EXPECT_EQ(llava.request["model"], Json("llava-hf/llava-1.5-13b-hf"));
  EXPECT_EQ(at(llava.request["training"], "max_length"), Json(2048));
}

// InternVL's shell/internvl2.5 scripts: srun starts one process a card, and rows are packed to a length of
// their own.
TEST(ExchangeShell, SrunsTasksAreTheCardsWhereItStartsTheScriptItself) {
  const Import import = from_script(
      "GPUS=${GPUS:-16}\n"
      "srun --gres=gpu:8 --nodes=2 --ntasks=${GPUS} --ntasks-per-node=8 --quotatype=reserved "
      "python -u internvl/train/internvl_chat_finetune.py --model_name_or_path OpenGVLab/InternVL2_5-8B "
      "--max_seq_length 8192 --max_packed_tokens 16384 --use_packed_ds True --num_images_expected 48 "
      "--deepspeed zero_stage3_config.json --per_device_train_batch_size 1 --output_dir out --bf16 True\n");
  ASSERT_TRUE(import.errors.empty()) << import.errors.front().message;
  EXPECT_EQ(at(import.request["parallel"], "num_gpus"), Json(16));
  EXPECT_EQ(at(import.request["parallel"], "strategy"), Json("zero3"));
  EXPECT_EQ(at(import.request["training"], "packing"), Json(true));
}

// allenai/open-instruct scripts/train: grpo_fast.py's own flags.
TEST(ExchangeShell, OpenInstructsRolloutsAndStagesAreRead) {
  const Import import = from_script(
      "python open_instruct/grpo_fast.py --model_name_or_path Qwen/Qwen3-0.6B --max_prompt_token_length 512 "
      "--response_length 512 --pack_length 1024 --per_device_train_batch_size 1 "
      "--num_samples_per_prompt_rollout 4 --learning_rate 1e-6 --deepspeed_stage 2 "
      "--num_learners_per_node 4 --vllm_num_engines 4 --output_dir out\n");
  ASSERT_TRUE(import.errors.empty()) << import.errors.front().message;
  EXPECT_EQ(at(import.request["training"], "max_length"), Json(1024));
  EXPECT_EQ(at(import.request["rl"], "max_completion_length"), Json(512));
  EXPECT_EQ(at(import.request["rl"], "num_generations"), Json(4));
  EXPECT_EQ(at(import.request["rl"], "vllm_mode"), Json("server"));
  EXPECT_EQ(at(import.request["parallel"], "num_gpus"), Json(4));
  EXPECT_EQ(at(import.request["parallel"], "strategy"), Json("zero2"));
  EXPECT_EQ(import.request["task"], Json("grpo"));
}

// modelscope/ms-swift examples/train/multi-node/torchrun: its own sft.py is not TRL's.
TEST(ExchangeShell, SwiftsOwnScriptUnderTorchrunIsSwifts) {
  const Import import = from_script(
      "torchrun --nproc_per_node 4 swift/cli/sft.py --model Qwen/Qwen2.5-7B-Instruct --tuner_type lora "
      "--per_device_train_batch_size 1 --max_length 2048 --output_dir out\n");
  ASSERT_TRUE(import.errors.empty()) << import.errors.front().message;
  EXPECT_EQ(import.model, "Qwen/Qwen2.5-7B-Instruct");
  EXPECT_EQ(import.request["stack"], Json("ms-swift"));
  EXPECT_EQ(at(import.request["training"], "max_length"), Json(2048));
}

// Commands of other people (tests/stacks/by-hand).
TEST(ExchangeShell, WhereTheOutputGoesIsNoSetting) {
  const Import import = from_script(
      "torchrun --nproc_per_node 8 train.py --model_path Qwen/Qwen3-4B --batch_size_per_gpu 2 --bf16 \\\n"
      "  2>&1 | tee log\n");
  EXPECT_EQ(import.model, "Qwen/Qwen3-4B");
  EXPECT_EQ(at(import.request["training"], "bf16"), Json(true));
  EXPECT_EQ(at(import.request["training"], "per_device_train_batch_size"), Json(2));
}

TEST(ExchangeShell, WhatTheScriptIsStartedWithIsNotKnown) {
  const Import import = from_script(
      "#!/bin/bash\nmodel=$1\nsteps=$2\naccelerate launch train.py --model_name_or_path $model --bf16 \\\n"
      "  --per_device_train_batch_size $BATCH --gradient_accumulation_steps $steps\n");
  EXPECT_EQ(import.model, "");
  EXPECT_TRUE(import.partial);
  std::vector<std::string> asked;
  for (const run::Missing& one : import.missing) asked.push_back(one.pointer);
  EXPECT_THAT(asked, testing::UnorderedElementsAre("/training/per_device_train_batch_size",
                                                   "/training/gradient_accumulation_steps"));
}

TEST(ExchangeShell, ACommandGrowsInItsVariable) {
  const Import import = from_script(
      "#!/bin/bash\nUSE_FP16=\"--fp16\"\nCMD=\"torchrun --nproc_per_node=8 train.py --model_name Qwen/Qwen3-4B \\\n"
      "  --max_seq_length 128\"\nif [ -n \"${USE_FP16}\" ]; then\n    CMD=\"${CMD} ${USE_FP16}\"\nfi\n"
      "CMD=\"${CMD} --use_8bit_optimizer\"\nCMD=\"${CMD} ${PACKING}\"\nnohup bash -c \"${CMD}\" >> log 2>&1 &\n");
  EXPECT_EQ(import.model, "Qwen/Qwen3-4B");
  const Json& training = import.request["training"];
  EXPECT_EQ(at(training, "max_length"), Json(128));
  EXPECT_EQ(at(training, "fp16"), Json(true));
  EXPECT_EQ(at(training, "optim"), Json("adamw_8bit"));
  EXPECT_EQ(at(import.request["parallel"], "num_gpus"), Json(8));
}

TEST(ExchangeShell, TheFirstLineSaysThatItIsAScript) {
  const char* const text =
      "#!/usr/bin/env bash\nusage() {\ncat <<EOF\nENV overrides:\n  MODEL: the checkpoint\nExamples:\n"
      "  ./run.sh train: trains\n--gpus: which\nEOF\n}\n";
  EXPECT_EQ(language_of(text), Language::shell);
}

TEST(ExchangeShell, DeepSpeedsBriefFormNamesItsCards) {
  const Import import = from_script(
      "deepspeed -i localhost:0,3 train.py --model_name_or_path Qwen/Qwen3-4B --bf16 --lora_rank 8 \\\n"
      "  --trainable q_proj,v_proj --modules_to_save embed_tokens,lm_head --flash_attn \\\n"
      "  --max_source_length 256 --max_target_length 128\n");
  EXPECT_EQ(at(import.request["parallel"], "num_gpus"), Json(2));
  EXPECT_EQ(at(import.request["peft"], "target_modules"), Json({"q_proj", "v_proj"}));
  EXPECT_EQ(at(import.request["peft"], "modules_to_save"), Json({"embed_tokens", "lm_head"}));
  EXPECT_EQ(at(import.request["model_args"], "attn_implementation"), Json("flash_attention_2"));
  EXPECT_EQ(at(import.request["training"], "max_length"), Json(384));
}

TEST(ExchangeShell, SwiftOfReleaseTwoEvaluatesAHundredth) {
  const auto evaluation = [](const std::string& more) {
    const Import import =
        from_script("swift sft --model_id_or_path Qwen/Qwen2-1.5B --sft_type lora --dataset x" + more);
    return at(import.request["training"], "eval_strategy");
  };
  EXPECT_EQ(evaluation(" --eval_steps 50"), Json("steps"));
  EXPECT_EQ(evaluation(" --dataset_test_ratio 0"), Json());
}

TEST(ExchangeShell, AFlagKeepsAQuotedValue) {
  const Import import = from_script(
      "python train.py --model_name_or_path=\"Qwen/Qwen3-4B\" --bf16 --optim='adamw_8bit' '--fp16'\n");
  EXPECT_EQ(import.model, "Qwen/Qwen3-4B");
  EXPECT_EQ(at(import.request["training"], "optim"), Json("adamw_8bit"));
  EXPECT_EQ(at(import.request["training"], "bf16"), Json(true));
}

TEST(ExchangeShell, TheSecondCommandMayBeTheOneThatIsRefused) {
  const Import import = from_script(
      "python3 -m data.prepare --out x\ntorchrun --nproc_per_node=2 -m verl.trainer.main_ppo data.x=1\n");
  ASSERT_FALSE(import.errors.empty());
  EXPECT_EQ(import.errors.front().code, "unsupported");
}

TEST(ExchangeShell, ALaunchersFlagTakesOneWordAndTheScriptMayHaveAnyName) {
  const Import import = from_script(
      "SCRIPT=$(python -c 'import swift; print(swift.__file__)')\n"
      "python -m torch.distributed.run --nproc_per_node 2 \"$SCRIPT\" --rlhf_type grpo "
      "--model Qwen/Qwen3-4B --tuner_type lora --lora_rank 64\n");
  ASSERT_NE(import.format, nullptr);
  EXPECT_EQ(import.format->id, "ms-swift");
  EXPECT_EQ(import.model, "Qwen/Qwen3-4B");
  EXPECT_EQ(at(import.request["parallel"], "num_gpus"), Json(2));
  EXPECT_EQ(at(import.request, "task"), Json("grpo"));
}

TEST(ExchangeShell, TheTaskOfAScriptMayStandInTheWordsAroundIt) {
  const auto task = [](const std::string& around) {
    const Import import = from_script("echo \">>> " + around +
                                      "\"\naccelerate launch --num_processes 7 train_easy.py "
                                      "--model_name_or_path Qwen/Qwen3-4B --bf16\n");
    return at(import.request, "task");
  };
  EXPECT_EQ(task("Starting GRPO training"), Json("grpo"));
  EXPECT_EQ(task("SFT before DPO"), Json());
  EXPECT_EQ(task("Starting"), Json());
}

TEST(ExchangeShell, LinesThatACommandGoesOnInAreNoPython) {
  EXPECT_EQ(language_of("torchrun --nproc_per_node=8 -m tool.train \\\n    data.files=a.parquet \\\n"
                        "    data.key=question \\\n    model.rank=32 \\\n    trainer.name=x \\\n"
                        "    trainer.epochs=4"),
            Language::shell);
}

// haotian-liu/LLaVA llava/train/train.py find_all_linear_names.
TEST(ExchangeShell, LlavasAdaptersGoOnAllLinearLayers) {
  const Import import = from_script(
      "deepspeed train.py --lora_enable True --lora_rank 64 --model_id Qwen/Qwen3-VL-4B-Instruct --bf16 True\n");
  EXPECT_EQ(at(import.request["peft"], "target_modules"), Json("all-linear"));
}

TEST(ExchangeShell, AFileThatTheScriptWritesIsRead) {
  const std::string text =
      "cat > ds.json <<'EOF'\n{\"zero_optimization\": {\"stage\": 2}}\nEOF\n"
      "deepspeed --num_gpus 4 train.py --model_name_or_path Qwen/Qwen3-4B --deepspeed ds.json --bf16 True\n";
  const Import import = from_script(text);
  EXPECT_EQ(at(import.request["parallel"], "strategy"), Json("zero2"));
}

TEST(ExchangeShell, SectionsOfSomebodysOwnHoldKnownKeys) {
  const Import import = from_script(
      "accelerate launch --num_processes 4 run.py --config.model.model_name_or_path Qwen/Qwen3-4B \\\n"
      "  --config.training.per_device_train_batch_size 8 --config.training.num_generations 8\n");
  EXPECT_EQ(import.model, "Qwen/Qwen3-4B");
  EXPECT_EQ(at(import.request["training"], "per_device_train_batch_size"), Json(8));
  EXPECT_EQ(import.request["task"], Json("grpo"));
}

TEST(ExchangeShell, AScriptThatTrainsByItsNameIsAskedAbout) {
  const Import import =
      from_script("#!/bin/bash\nexport CUDA_VISIBLE_DEVICES=0\npython train_DPO.py --config_path a.json\n");
  ASSERT_TRUE(import.errors.empty());
  EXPECT_TRUE(import.partial);
  EXPECT_EQ(import.request["task"], Json("dpo"));
}

TEST(ExchangeShell, SettingsInAFileThatIsNotHereAreAskedFor) {
  for (const char* text :
       {"llamafactory-cli train examples/llama3_lora_sft.yaml", "axolotl train lora.yml --debug 1",
        "trl sft --config sft.yaml --num_processes 2"}) {
    const Import import = from_script(text);
    ASSERT_FALSE(import.errors.empty()) << text;
    EXPECT_EQ(import.errors.front().code, "settings_elsewhere") << text;
  }
  const Import script =
      from_script("accelerate launch --config_file zero3.yaml grpo.py --config config_demo.yaml");
  ASSERT_TRUE(script.errors.empty());
  EXPECT_THAT(script.notes, testing::Contains(testing::HasSubstr("config_demo.yaml, which is not here")));
  const Import chat = from_script("llamafactory-cli chat llama3.yaml --top_k 1");
  ASSERT_FALSE(chat.errors.empty());
  EXPECT_NE(chat.errors.front().code, "settings_elsewhere");
}

}  // namespace
}  // namespace plimsoll::exchange
