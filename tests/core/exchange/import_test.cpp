// Configurations of other tools to requests. The YAML ones run natively alone: the page brings its own
// parser.
#include "core/exchange/import.h"

#include <gmock/gmock.h>

#include "core/exchange/patch.h"
#ifndef __EMSCRIPTEN__
#include "core/cli/yaml.h"
#endif

namespace plimsoll::exchange {
namespace {

using json::Json;
using testing::HasSubstr;

[[maybe_unused]] Json json_of(const char* text) {
  json::Errors errors;
  return json::parse(text, errors).value_or(Json());
}

// The order of keys does not matter.
[[maybe_unused]] bool same(const Json& one, const Json& other) {
  return nlohmann::json::parse(one.dump()) == nlohmann::json::parse(other.dump());
}

const Finding* finding(const Import& import, std::string_view path) {
  for (const Finding& found : import.findings) {
    if (found.path == path) return &found;
  }
  return nullptr;
}

[[maybe_unused]] Use use_of(const Import& import, std::string_view path) {
  const Finding* found = finding(import, path);
  EXPECT_NE(found, nullptr) << path;
  return found == nullptr ? Use::unknown : found->use;
}

TEST(ExchangeMsSwift, TheNameThatAModelGivesItselfIsNotTheModel) {
  const std::string text =
      "swift sft --model Qwen/Qwen2.5-7B-Instruct --lora_rank 8 --model_author swift --model_name "
      "swift-robot";
  const Import import = import_document(read_text(text), text);
  EXPECT_EQ(import.model, "Qwen/Qwen2.5-7B-Instruct");
  EXPECT_EQ(use_of(import, "model_name"), Use::irrelevant);
}

// transformers/training_args.py passes it on to accelerate's FullyShardedDataParallelPlugin.
TEST(ExchangeTransformers, TheRateLimiterOfFsdpIsRead) {
  const std::string text =
      R"({"model_name_or_path": "meta-llama/Llama-2-7b-hf", "fsdp": "full_shard auto_wrap",
          "fsdp_config": {"limit_all_gathers": false}})";
  const Import import = import_document(read_text(text), text);
  EXPECT_EQ(import.request.at(Json::json_pointer("/parallel/fsdp_config/limit_all_gathers")), Json(false));
}

// transformers/trainer_pt_utils.py AcceleratorConfig.
TEST(ExchangeTransformers, WhenGradientsAreReducedIsRead) {
  for (const char* before :
       {R"({"model_name_or_path": "meta-llama/Llama-2-7b-hf", "fsdp": "full_shard auto_wrap",)",
        R"({"base_model": "meta-llama/Llama-2-7b-hf", "micro_batch_size": 2, "sequence_len": 2048,)",
        R"({"model_name_or_path": "meta-llama/Llama-2-7b-hf", "stage": "sft", "finetuning_type": "full",)"}) {
    const std::string text =
        before +
        std::string(R"("accelerator_config": {"gradient_accumulation_kwargs": {"sync_each_batch": true}}})");
    const Import import = import_document(read_text(text), text);
    EXPECT_EQ(import.request.value(Json::json_pointer("/parallel/sync_each_batch"), Json()), Json(true))
        << text;
  }
}

// swift/arguments/tuner_args.py: four blocks where nothing is said; swift/trainers/arguments.py: a rank of
// 128.
TEST(ExchangeMsSwift, LlamaProAndGaloreAreTheirOwnMethods) {
  const auto read = [](const std::string& text) { return import_document(read_text(text), text).request; };
  const std::string start = "swift sft --model Qwen/Qwen2.5-7B-Instruct ";
  const Json pro = read(start + "--tuner_type llamapro");
  EXPECT_EQ(pro["training"].value("llamapro_num_new_blocks", Json()), Json(4));
  EXPECT_FALSE(pro.contains("peft"));
  EXPECT_EQ(read(start +
                 "--tuner_type llamapro --llamapro_num_new_blocks 8")["training"]["llamapro_num_new_blocks"],
            Json(8));
  const Json galore = read(start + "--tuner_type full --use_galore true --optim adamw_8bit");
  EXPECT_EQ(galore["training"].value("optim", Json()), Json("galore_adamw_8bit"));
  EXPECT_EQ(galore["training"].value("optim_args", Json()), Json("rank=128"));
  EXPECT_EQ(read(start + "--tuner_type adalora")["peft"].value("peft_type", Json()), Json("ADALORA"));
  EXPECT_EQ(read(start + "--sequence_parallel_size 2")["parallel"].value("sequence_parallel_size", Json()),
            Json(2));
}

TEST(ExchangeMsSwift, MegatronIsRefusedInWords) {
  const std::string text =
      "megatron sft --model Qwen/Qwen2.5-7B-Instruct --micro_batch_size 8 --max_length 2048";
  const Import import = import_document(read_text(text), text);
  ASSERT_EQ(import.errors.size(), 1u);
  EXPECT_EQ(import.errors[0].code, "unsupported");
  EXPECT_THAT(import.errors[0].message, HasSubstr("Megatron"));
}

#ifndef __EMSCRIPTEN__

Import import_yaml(const std::string& text) { return import_document(cli::read_document(text), text); }

constexpr const char* axolotl_qlora = R"(base_model: NousResearch/Llama-2-7b-hf
# a comment
model_type: LlamaForCausalLM
load_in_8bit: false
load_in_4bit: true
adapter: qlora
lora_model_dir:
sequence_len: 4_096
sample_packing: true
lora_r: 32
lora_alpha: 16
lora_dropout: 0.05
lora_target_linear: true
wandb_project:
gradient_accumulation_steps: 4
micro_batch_size: 2
num_epochs: 4
optimizer: paged_adamw_32bit
learning_rate: 2e-4
bf16: auto
gradient_checkpointing: true
attn_implementation: flash_attention_2
datasets:
  - path: mhenrichsen/alpaca_2k_test
    type: alpaca
mystery_key: 7
)";

TEST(ExchangeAxolotl, PackedExpertsAreRead) {
  const Import import = import_yaml(
      "base_model: zai-org/GLM-4.7-Flash\nadapter: qlora\nload_in_4bit: true\n"
      "quantize_moe_experts: true\nsequence_len: 2048\nmicro_batch_size: 2\n");
  EXPECT_EQ(import.request["quantization"].value("quantize_moe_experts", Json()), Json(true));
}

TEST(ExchangeAxolotl, AQloraConfigurationGivesItsRequest) {
  const Import import = import_yaml(axolotl_qlora);
  ASSERT_TRUE(import.errors.empty());
  EXPECT_EQ(import.format->id, "axolotl");
  EXPECT_TRUE(same(import.request, json_of(R"({
      "model": "NousResearch/Llama-2-7b-hf", "stack": "axolotl",
      "quantization": {"load_in_4bit": true, "load_in_8bit": false},
      "model_args": {"attn_implementation": "flash_attention_2"},
      "peft": {"r": 32, "lora_alpha": 16, "target_modules": "all-linear", "lora_dropout": 0.05},
      "training": {"per_device_train_batch_size": 2, "gradient_accumulation_steps": 4, "max_length": 4096,
                   "packing": true, "gradient_checkpointing": true, "optim": "paged_adamw_32bit"},
      "data": {"epochs": 4}})")))
      << import.request.dump(1);
}

TEST(ExchangeAxolotl, EveryKeyIsToldAbout) {
  const Import import = import_yaml(axolotl_qlora);
  EXPECT_EQ(import.findings.size(), 24U);
  EXPECT_EQ(use_of(import, "sequence_len"), Use::used);
  EXPECT_EQ(finding(import, "sequence_len")->pointer, "/training/max_length");
  EXPECT_EQ(use_of(import, "model_type"), Use::implied);
  EXPECT_EQ(use_of(import, "bf16"), Use::implied);
  EXPECT_EQ(use_of(import, "learning_rate"), Use::irrelevant);
  EXPECT_EQ(use_of(import, "datasets[].path"), Use::irrelevant);
  EXPECT_EQ(use_of(import, "mystery_key"), Use::unknown);
}

TEST(ExchangeAxolotl, APlaceInTheTextIsTheValueAndNothingElse) {
  const std::string text = axolotl_qlora;
  const Import import = import_yaml(text);
  const auto at = [&](const char* path) {
    return text.substr(finding(import, path)->at.at, finding(import, path)->at.length);
  };
  EXPECT_EQ(at("sequence_len"), "4_096");
  EXPECT_EQ(at("adapter"), "qlora");
  EXPECT_EQ(at("lora_dropout"), "0.05");
}

TEST(ExchangeAxolotl, WithoutAnAdapterItsKeysSayNothing) {
  const Import import =
      import_yaml("base_model: a/b\nadapter:\nlora_r: 32\nlora_target_linear: true\nsequence_len: 512\n");
  EXPECT_TRUE(import.request.value("peft", Json()).is_null());
  EXPECT_EQ(use_of(import, "lora_r"), Use::implied);
}

TEST(ExchangeAxolotl, AValueThatTheRecipeRefusesIsReportedAndNotDropped) {
  const Import import =
      import_yaml("base_model: a/b\nsequence_len: 512\noptimizer: shampoo\nmicro_batch_size: -3\n");
  EXPECT_EQ(use_of(import, "optimizer"), Use::unsupported);
  EXPECT_THAT(finding(import, "optimizer")->message, HasSubstr("shampoo"));
  EXPECT_EQ(use_of(import, "micro_batch_size"), Use::unsupported);
  EXPECT_FALSE(import.request.contains("/training/optim"_json_pointer));
}

TEST(ExchangeAxolotl, APatternOverModuleNamesGivesTheNamesAtItsEnd) {
  const Import import = import_yaml(
      "base_model: a/b\nadapter: lora\nsequence_len: 512\n"
      "lora_target_modules: "
      "'model.language_model.layers.[\\d]+.(mlp|cross_attn|self_attn).(up|down|q)_proj'\n");
  EXPECT_EQ(import.request["peft"]["target_modules"], json_of(R"(["up_proj", "down_proj", "q_proj"])"));
  EXPECT_EQ(import.request["peft"]["finetune_vision_layers"], Json(false));
}

TEST(ExchangeAxolotl, FewerNamesInAPatternLeaveTheVisionTowerAlone) {
  const std::string text =
      "base_model: a/b\nadapter: lora\nsequence_len: 512\n"
      "lora_target_modules: "
      "'model.language_model.layers.[\\d]+.(mlp|cross_attn|self_attn).(up|down|q)_proj'\n";
  const Patch patch =
      patch_document(cli::read_document(text), text, {{"/peft/target_modules", {"q_proj", "v_proj"}}});
  EXPECT_EQ(patch.request["peft"]["target_modules"], json_of(R"(["q_proj", "v_proj"])")) << patch.text;
  EXPECT_EQ(patch.request["peft"]["finetune_vision_layers"], Json(false)) << patch.text;
}

TEST(ExchangeAxolotl, TheZeroStageIsReadFromTheNameOfTheDeepSpeedFile) {
  const Import import =
      import_yaml("base_model: a/b\nsequence_len: 512\ndeepspeed: deepspeed_configs/zero3_bf16.json\n");
  EXPECT_EQ(import.request["parallel"]["strategy"], Json("zero3"));
}

TEST(ExchangeYaml, AnchorsAreFollowedAndMerged) {
  const Import import =
      import_yaml("base: &b\n  lora_r: 4\nbase_model: a/b\nadapter: lora\n<<: *b\nsequence_len: 8\n");
  EXPECT_EQ(import.request["peft"]["r"], Json(4));
}

TEST(ExchangeYaml, AKeyWrittenTwiceIsAnError) {
  const Import import = import_yaml("base_model: a/b\nsequence_len: 8\nsequence_len: 16\n");
  ASSERT_EQ(import.errors.size(), 1U);
  EXPECT_EQ(import.errors[0].code, "duplicate_key");
}

TEST(ExchangeYaml, ATextThatIsNoConfigurationIsRefusedInWords) {
  const Import import = import_yaml("fruit: apple\ncolour: red\n");
  ASSERT_EQ(import.errors.size(), 1U);
  EXPECT_EQ(import.errors[0].code, "unknown_format");
}

TEST(ExchangeNested, TheEvaluationsSectionIsReadAndWhatIsUnknownThereIsSaid) {
  for (const std::string section : {"evaluation", "eval"}) {
    const Import import = import_yaml(
        "model:\n  name: Qwen/Qwen2.5-0.5B\nlora:\n  r: 8\ntraining:\n"
        "  per_device_train_batch_size: 2\n" +
        section +
        ":\n  batch_size: 64\n  eval_strategy: steps\n  eval_steps: 50\n"
        "  probes: 7\n");
    const Json training = import.request["training"];
    EXPECT_EQ(training.value("per_device_eval_batch_size", Json()), Json(64)) << section;
    EXPECT_EQ(training.value("per_device_train_batch_size", Json()), Json(2)) << section;
    EXPECT_EQ(training.value("eval_strategy", Json()), Json("steps")) << section;
    EXPECT_EQ(use_of(import, section + ".eval_steps"), Use::irrelevant);
    EXPECT_EQ(use_of(import, section + ".probes"), Use::unknown);
  }
}

TEST(ExchangeNested, WhatGRPOGeneratesIsReadAndWhatIsSampledLaterIsNot) {
  const std::string model =
      "model:\n  name: Qwen/Qwen2.5-0.5B\ntraining:\n  max_steps: 5\n  max_length: 512\n";
  const Import grpo =
      import_yaml(model + "generation:\n  num_generations: 4\n  temperature: 0.7\n  beams_of: 3\n");
  EXPECT_EQ(grpo.request["rl"].value("num_generations", Json()), Json(4));
  EXPECT_EQ(grpo.request["rl"].value("temperature", Json()), Json(0.7));
  EXPECT_EQ(use_of(grpo, "generation.beams_of"), Use::unknown);
  const Import later = import_yaml(model + "generation:\n  max_length: 64\n  temperature: 0.7\n");
  EXPECT_FALSE(later.request.contains("rl"));
  EXPECT_EQ(later.request["training"].value("max_length", Json()), Json(512));
}

TEST(ExchangeNested, ALengthBelowTheDataIsTheSamples) {
  const std::string data =
      "model:\n  name: Qwen/Qwen2.5-0.5B\ndata:\n  max_seq_length: 2048\n  path: a.json\n";
  const Import alone = import_yaml(data + "lora:\n  r: 8\n");
  EXPECT_EQ(alone.request["training"].value("max_length", Json()), Json(2048));
  EXPECT_EQ(use_of(alone, "data.path"), Use::irrelevant);
  const Import both = import_yaml(data + "training:\n  max_length: 512\n");
  EXPECT_EQ(both.request["training"].value("max_length", Json()), Json(512));
}

#endif

TEST(ExchangeYaml, ATreeFromAParserOutsideGivesTheSameValues) {
  const Document document = from_wire(R"({"map": [
      {"key": "base_model", "at": 0, "length": 10, "value": {"scalar": "a/b", "plain": true, "at": 12, "length": 3}},
      {"key": "sequence_len", "value": {"scalar": "500_000", "plain": true, "at": 30, "length": 7}},
      {"key": "micro_batch_size", "value": {"scalar": "2", "plain": true, "at": 50, "length": 1}}]})");
  const Import import = import_document(document, "");
  EXPECT_EQ(import.request["training"]["max_length"], Json(500000));
  EXPECT_EQ(finding(import, "sequence_len")->at.at, 30U);
}

}  // namespace
}  // namespace plimsoll::exchange
