// An exported file starts as it is, and means what the request meant.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/report/exchange.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

using json::Json;
using testing::HasSubstr;
using testing::Not;

std::string exported(const Json& request, std::string_view format) {
  json::Errors errors;
  const Json answer = *json::parse(export_text(json::write(request), format, presets()), errors);
  EXPECT_EQ(answer["ok"], Json(true));
  return answer.value("text", "");
}

Json small(std::string_view stack) {
  return {{"model", "Qwen/Qwen3-8B"}, {"stack", std::string(stack)}, {"training", {{"bf16", true}}}};
}

TEST(ExportedFile, HoldsNoZeroForWhatTransformersTurnsOffWithNone) {
  for (const char* format :
       {"unsloth", "trl-python", "hf", "trl", "llamafactory", "axolotl", "ms-swift", "cli"}) {
    Json request = small("trl");
    request["training"]["torch_empty_cache_steps"] = 0;
    request["training"]["eval_accumulation_steps"] = 0;
    const std::string text = exported(request, format);
    EXPECT_THAT(text, Not(HasSubstr("torch_empty_cache_steps"))) << format;
    EXPECT_THAT(text, Not(HasSubstr("eval_accumulation_steps"))) << format;
  }
}

// Axolotl keeps four checkpoints where it is told none.
TEST(ExportedFile, KeepsAllCheckpointsWithoutTellingAxolotlZero) {
  EXPECT_THAT(exported(small("trl"), "axolotl"), Not(HasSubstr("save_total_limit")));
}

TEST(ExportedFile, StatesRankAndScaleOfAdaptersWhateverItsToolTakes) {
  Json request = small("hf");
  request["peft"] = {{"target_modules", "all-linear"}};
  EXPECT_THAT(exported(request, "unsloth"), HasSubstr("    r=8,\n    lora_alpha=8,\n"));
  EXPECT_THAT(exported(request, "trl-python"), HasSubstr("    r=8,\n    lora_alpha=8,\n"));
  EXPECT_THAT(exported(request, "axolotl"), HasSubstr("lora_r: 8\nlora_alpha: 8\n"));
  EXPECT_THAT(exported(request, "trl"), HasSubstr("lora_r: 8\nlora_alpha: 8\nlora_dropout: 0\n"));
  EXPECT_THAT(exported(request, "peft"), HasSubstr("\"lora_alpha\": 8"));
  request["stack"] = "llamafactory";
  request["peft"]["r"] = 16;
  EXPECT_THAT(exported(request, "trl-python"), HasSubstr("    r=16,\n    lora_alpha=32,\n"));
}

TEST(ExportedFile, NamesItsModelAsTheHubDoes) {
  const auto model_of = [](const char* name) {
    const std::string text = exported({{"model", name}, {"stack", "axolotl"}}, "axolotl");
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(model_of("llama-3.1-8b-instruct"), "base_model: meta-llama/Llama-3.1-8B-Instruct");
  EXPECT_EQ(model_of("deepseek-r1-distill-llama-8b"), "base_model: deepseek-ai/DeepSeek-R1-Distill-Llama-8B");
  EXPECT_EQ(model_of("gemma-3-4b-it"), "base_model: google/gemma-3-4b-it");
  EXPECT_EQ(model_of("llama-8b"), "base_model: meta-llama/Llama-3.1-8B");
  EXPECT_EQ(model_of("unsloth/gemma-3-4b-it"), "base_model: unsloth/gemma-3-4b-it");
}

TEST(ExportedFile, GivesAxolotlLigerByItsPlugin) {
  Json request = small("hf");
  request["training"]["use_liger_kernel"] = true;
  const std::string text = exported(request, "axolotl");
  EXPECT_THAT(text, HasSubstr("plugins:\n  - axolotl.integrations.liger.LigerPlugin\n"));
  for (const char* key : {"fused_linear_cross_entropy", "rms_norm", "glu_activation", "rope"})
    EXPECT_THAT(text, HasSubstr("liger_" + std::string(key) + ": true\n"));
  EXPECT_THAT(text, Not(HasSubstr("dpo_use_liger_kernel")));
  request["task"] = "dpo";
  EXPECT_THAT(exported(request, "axolotl"), HasSubstr("dpo_use_liger_kernel: true\n"));
}

TEST(ExportedFile, SaysNothingOfGenerationWhereNothingIsGenerated) {
  Json request = small("trl");
  request["task"] = "dpo";
  EXPECT_THAT(exported(request, "axolotl"), Not(HasSubstr("vllm")));
  request["task"] = "grpo";
  EXPECT_THAT(exported(request, "axolotl"), HasSubstr("vllm_mode: colocate"));
}

Json with_plugin(bool rope) {
  Json request = small("axolotl");
  for (const char* kernel : {"rms_norm", "swiglu", "fused_linear_cross_entropy"})
    request["training"]["liger_kernel_config"][kernel] = true;
  if (rope) request["training"]["liger_kernel_config"]["rope"] = true;
  return request;
}

TEST(ExportedFile, TurnsTheSwitchOnForTheKernelsThatAxolotlNames) {
  const std::string whole = exported(with_plugin(true), "llamafactory");
  EXPECT_THAT(whole, HasSubstr("enable_liger_kernel: true\n"));
  EXPECT_THAT(whole, Not(HasSubstr("liger_kernel_config")));
  EXPECT_THAT(exported(with_plugin(true), "trl-python"), HasSubstr("use_liger_kernel=True,\n"));
  const std::string parts = exported(with_plugin(false), "llamafactory");
  EXPECT_THAT(parts, HasSubstr("\nuse_liger_kernel: true\n"));
  EXPECT_THAT(parts, HasSubstr("  rope: false\n"));
}

TEST(ExportedFile, LeavesTheNumberOfGpusToLlamaFactorysLauncher) {
  Json request = small("llamafactory");
  request["parallel"] = {{"num_gpus", 8}, {"strategy", "zero2"}};
  EXPECT_THAT(exported(request, "llamafactory"), Not(HasSubstr("ray_num_workers")));
}

TEST(ExportedFile, TellsLlamaFactoryNoPureBf16UnderZero3WhereItsParserStops) {
  Json request = small("llamafactory");
  request["model_args"]["dtype"] = "bfloat16";
  EXPECT_THAT(exported(request, "llamafactory"), HasSubstr("pure_bf16: true\n"));
  request["parallel"] = {{"num_gpus", 8}, {"strategy", "zero3"}};
  EXPECT_THAT(exported(request, "llamafactory"), Not(HasSubstr("pure_bf16")));
}

TEST(ExportedFile, SaysToAccelerateHowItsProcessesShareTheWork) {
  const auto file = [](const Json& parallel) {
    Json request = small("hf");
    request["training"]["gradient_checkpointing"] = true;
    request["parallel"] = parallel;
    return exported(request, "accelerate");
  };
  EXPECT_THAT(file({{"num_gpus", 4}}), HasSubstr("distributed_type: MULTI_GPU\n"));
  EXPECT_THAT(file({{"num_gpus", 4}}), Not(HasSubstr("fsdp_config")));
  const std::string fsdp = file({{"num_gpus", 4}, {"strategy", "fsdp"}});
  EXPECT_THAT(fsdp, HasSubstr("  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP\n"));
  EXPECT_THAT(fsdp,
              Not(HasSubstr("activation_checkpointing")));  // beside the script's own Transformers stops
  const std::string one = file({{"num_gpus", 4}, {"strategy", "none"}});
  EXPECT_THAT(one, HasSubstr("distributed_type: \"NO\"\n"));
  EXPECT_THAT(one, Not(HasSubstr("num_processes")));
}

TEST(ExportedFile, SharesTheWorkAsItsStackDoesWhereTheOtherHasAnotherWay) {
  Json request = small("torchtune");
  request["parallel"] = {{"num_gpus", 4}};
  EXPECT_THAT(exported(request, "accelerate"), HasSubstr("fsdp_version: 2\n"));
}

TEST(ExportedFile, BuildsTorchtunesModel) {
  Json request = small("hf");
  request["model"] = "meta-llama/Llama-3.1-8B";
  request["peft"] = {{"r", 16}, {"target_modules", "all-linear"}};
  const std::string text = exported(request, "torchtune");
  EXPECT_THAT(text,
              HasSubstr("  lora_rank: 16\n  lora_alpha: 8\n  lora_attn_modules:\n    - q_proj\n    - k_proj\n"
                        "    - v_proj\n    - output_proj\n  apply_lora_to_mlp: true\n"));
  EXPECT_THAT(text, HasSubstr("dtype: bf16\n"));
  EXPECT_THAT(text, Not(HasSubstr("apply_lora_to_output")));  // which builders with a tied head do not take
}

// ArgumentParser's store_true: a word behind one would be the script.
TEST(ExportedCommand, GivesBareSwitchesOfTheLauncherNoWord) {
  Json request = small("hf");
  request["parallel"] = {{"num_gpus", 2}, {"strategy", "zero3"}};
  EXPECT_THAT(exported(request, "cli"), HasSubstr("--use_deepspeed train.py"));
  request["parallel"]["strategy"] = "fsdp2";
  EXPECT_THAT(
      exported(request, "cli"),
      HasSubstr("--use_fsdp --fsdp_version 2 --fsdp_auto_wrap_policy TRANSFORMER_BASED_WRAP train.py"));
}

TEST(ExportedFile, NamesNoCardThatItsTrainerDoesNotKnow) {
  Json request = small("trl");
  request["peft"] = {{"r", 16}};
  request["hardware"] = {{"gpu", "rtx-4090"}};
  for (const char* format :
       {"unsloth", "trl-python", "hf", "trl", "llamafactory", "axolotl", "ms-swift", "nested", "sagemaker"})
    EXPECT_THAT(exported(request, format), Not(HasSubstr("rtx-4090"))) << format;
}

}  // namespace
}  // namespace plimsoll::report
