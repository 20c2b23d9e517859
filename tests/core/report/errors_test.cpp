// Requests that cannot be answered: each names exactly what is wrong, where, and holds no report.
#include <algorithm>
#include <vector>

#include "core/recipe/strategies.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

struct Bad {
  const char* name;
  std::string request;
  std::vector<std::pair<std::string, std::string>> errors;  // code, pointer; in any order
};

std::string nested(size_t depth) {
  return R"({"model": "gpt2", "data": )" + std::string(depth, '[') + std::string(depth, ']') + "}";
}

std::vector<Bad> bad_requests() {
  return {
      {"EmptyText", "", {{"not_json", ""}}},
      {"EmptyModel", R"({"model": ""})", {{"missing", "/model"}}},
      {"PlainWords", "mistral 7b on a 4090", {{"not_json", ""}}},
      {"Truncated", R"({"model": "gpt2", "peft": {"r": 16)", {{"not_json", "/peft"}}},
      {"TrailingText", R"({"model": "gpt2"} and more)", {{"not_json", ""}}},
      {"TrailingComma", R"({"model": "gpt2",})", {{"not_json", ""}}},
      {"TwoDocuments", R"({"model": "gpt2"}{"model": "gpt2"})", {{"not_json", ""}}},
      {"Comment", "{\"model\": \"gpt2\" // small\n}", {{"not_json", ""}}},
      {"SingleQuotes", "{'model': 'gpt2'}", {{"not_json", ""}}},
      {"NotANumber", R"({"model": "gpt2", "peft": {"r": NaN}})", {{"not_json", "/peft"}}},
      {"TooDeep",
       nested(70),
       {{"too_large", "/data" +
                          [] {
                            std::string zeros;
                            for (int i = 0; i < 62; ++i) zeros += "/0";
                            return zeros;
                          }()}}},
      {"AdaptersOfAFrozenLanguageModelAlone",
       R"({"model": "internvl3-1b", "stack": "llamafactory", "peft": {"target_modules": ["up_proj"]},
           "vision": {"images_per_sample": 1, "freeze_language_model": true, "freeze_vision_tower": false}})",
       {{"conflict", "/vision/freeze_language_model"}}},
      {"AParameterThatAModelHasNot",
       R"({"model": "llama-3.1-8b", "peft": {"target_modules": [], "target_parameters": ["mlp.experts.down_proj"]}})",
       {{"unknown_value", "/peft/target_parameters"}}},
      {"AList", R"(["gpt2"])", {{"wrong_type", ""}}},
      {"AString", R"("gpt2")", {{"wrong_type", ""}}},
      {"ANumber", "7", {{"wrong_type", ""}}},
      {"Null", "null", {{"wrong_type", ""}}},
      {"DuplicateKey", R"({"model": "gpt2", "model": "gpt2"})", {{"duplicate_key", "/model"}}},
      {"DuplicateKeyInside",
       R"({"model": "gpt2", "training": {"max_length": 1, "max_length": 2}})",
       {{"duplicate_key", "/training/max_length"}}},

      {"NoModel", "{}", {{"missing", "/model"}}},
      {"NullModel", R"({"model": null})", {{"missing", "/model"}}},
      {"NumberAsModel", R"({"model": 7})", {{"wrong_type", "/model"}}},
      {"UnknownModel", R"({"model": "mistral-7b-v0.9"})", {{"unknown_model", "/model"}}},
      {"UnknownGpu",
       R"({"model": "gpt2", "hardware": {"gpu": "rtx-9090"}})",
       {{"unknown_gpu", "/hardware/gpu"}}},
      {"AnOblongImage",
       R"({"model": "llava-1.5-7b-hf", "vision": {"image_size": 336, "image_height": 200}})",
       {{"unsupported", "/vision/image_height"}}},
      {"UnknownStack", R"({"model": "gpt2", "stack": "keras"})", {{"unknown_stack", "/stack"}}},
      {"UnknownTask", R"({"model": "gpt2", "task": "distil"})", {{"unknown_value", "/task"}}},
      {"UnknownOptimizer",
       R"({"model": "gpt2", "training": {"optim": "adam"}})",
       {{"unknown_value", "/training/optim"}}},
      {"UnknownDtype",
       R"({"model": "gpt2", "model_args": {"dtype": "bf16"}})",
       {{"unknown_value", "/model_args/dtype"}}},
      {"NotModelled",
       R"({"model": "gpt2", "parallel": {"tensor_parallel_size": 2}, "training": {"fp8": true}})",
       {{"not_modelled", "/parallel/tensor_parallel_size"}, {"not_modelled", "/training/fp8"}}},
      {"UnknownKeyOnTop", R"({"model": "gpt2", "trainer": {}})", {{"unknown_key", "/trainer"}}},
      {"UnknownKeyInside",
       R"({"model": "gpt2", "training": {"batch_size": 4}})",
       {{"unknown_key", "/training/batch_size"}}},
      {"UnknownKeyTwoInside",
       R"({"model": "gpt2", "training": {"gradient_checkpointing_kwargs": {"reentrant": true}}})",
       {{"unknown_key", "/training/gradient_checkpointing_kwargs/reentrant"}}},
      {"KeyWithASlash", R"({"model": "gpt2", "a/b~c": 1})", {{"unknown_key", "/a~1b~0c"}}},
      {"AnEmptyVersion",
       R"({"model": "gpt2", "versions": {"transformers": ""}})",
       {{"unknown_value", "/versions/transformers"}}},
      {"ConditionsForVersions",
       R"({"model": "gpt2", "versions": {"transformers": ">=4.46", "trl": "0.19.*", "peft": "4..6", "torch": "cu124",
           "bitsandbytes": "0.43 or later", "unsloth": "git+https://github.com/unslothai/unsloth"}})",
       {{"unknown_value", "/versions/transformers"},
        {"unknown_value", "/versions/trl"},
        {"unknown_value", "/versions/peft"},
        {"unknown_value", "/versions/torch"},
        {"unknown_value", "/versions/bitsandbytes"},
        {"unknown_value", "/versions/unsloth"}}},
      {"NoPlacement",
       R"({"model": "gpt2", "model_args": {"device_map": "everywhere"}})",
       {{"unknown_value", "/model_args/device_map"}}},
      {"NoAllocatorOption",
       R"({"model": "gpt2", "hardware": {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments"}})",
       {{"unknown_value", "/hardware/PYTORCH_CUDA_ALLOC_CONF"}}},
      {"ABlankText",
       R"({"model": "gpt2", "hardware": {"PYTORCH_CUDA_ALLOC_CONF": " "}})",
       {{"unknown_value", "/hardware/PYTORCH_CUDA_ALLOC_CONF"}}},
      {"Schema2", R"({"model": "gpt2", "schema": 2})", {{"out_of_range", "/schema"}}},

      {"StringForNumber", R"({"model": "gpt2", "peft": {"r": "16"}})", {{"wrong_type", "/peft/r"}}},
      {"FlagForNumber",
       R"({"model": "gpt2", "training": {"max_length": true}})",
       {{"wrong_type", "/training/max_length"}}},
      {"NumberForString", R"({"model": "gpt2", "stack": 1})", {{"wrong_type", "/stack"}}},
      {"NumberForFlag", R"({"model": "gpt2", "training": {"bf16": 1}})", {{"wrong_type", "/training/bf16"}}},
      {"StringForFlag",
       R"({"model": "gpt2", "training": {"bf16": "true"}})",
       {{"wrong_type", "/training/bf16"}}},
      {"ListForObject", R"({"model": "gpt2", "training": [512]})", {{"wrong_type", "/training"}}},
      {"FlagForObject", R"({"model": "gpt2", "peft": true})", {{"wrong_type", "/peft"}}},
      {"ObjectForNumber", R"({"model": "gpt2", "peft": {"r": {}}})", {{"wrong_type", "/peft/r"}}},
      {"NumberInAListOfStrings",
       R"({"model": "gpt2", "peft": {"target_modules": ["c_attn", 2]}})",
       {{"wrong_type", "/peft/target_modules/1"}}},
      {"NumberInAnObjectOfStrings",
       R"({"model": "gpt2", "model_args": {"max_memory": {"0": 14}}})",
       {{"wrong_type", "/model_args/max_memory/0"}}},
      {"StringForAnObjectOfStrings",
       R"({"model": "gpt2", "model_args": {"max_memory": "14GB"}})",
       {{"wrong_type", "/model_args/max_memory"}}},
      {"NegativeCount", R"({"model": "gpt2", "peft": {"r": -1}})", {{"negative", "/peft/r"}}},
      {"NegativeNumber",
       R"({"model": "gpt2", "hardware": {"in_use_gib": -0.5}})",
       {{"negative", "/hardware/in_use_gib"}}},
      {"Fraction",
       R"({"model": "gpt2", "training": {"max_length": 1.5}})",
       {{"fractional", "/training/max_length"}}},
      {"WholeFraction",
       R"({"model": "gpt2", "training": {"max_length": 1.0}})",
       {{"fractional", "/training/max_length"}}},
      {"Zero", R"({"model": "gpt2", "peft": {"r": 0}})", {{"out_of_range", "/peft/r"}}},
      {"TooMuch",
       R"({"model": "gpt2", "training": {"per_device_train_batch_size": 65537}})",
       {{"out_of_range", "/training/per_device_train_batch_size"}}},
      {"DropoutAboveOne",
       R"({"model": "gpt2", "peft": {"lora_dropout": 1.01}})",
       {{"out_of_range", "/peft/lora_dropout"}}},

      {"NoTargets",
       R"({"model": "gpt2", "peft": {"target_modules": []}})",
       {{"missing", "/peft/target_modules"}}},
      {"ARegularExpressionThatCannotBeRead",
       R"({"model": "gpt2", "peft": {"target_modules": ".*(attn"}})",
       {{"unsupported", "/peft/target_modules"}}},
      {"ARegularExpressionThatNothingMatches",
       R"({"model": "gpt2", "peft": {"target_modules": ".*q_proj"}})",
       {{"unknown_value", "/peft/target_modules"}}},
      {"ARegularExpressionForSomeLayers",
       R"re({"model": "gpt2", "peft": {"target_modules": ".*h\\.(0|1)\\.attn\\.c_attn"}})re",
       {{"unsupported", "/peft/target_modules"}}},
      {"TargetsThatDoNotExist",
       R"({"model": "gpt2", "peft": {"target_modules": ["q_proj", "v_proj"]}})",
       {{"unknown_value", "/peft/target_modules"}}},
      {"NoDefaultTargets", R"({"model": "gpt-oss-20b", "peft": {}})", {{"missing", "/peft/target_modules"}}},
      {"LockOfAnUnknownField",
       R"({"model": "gpt2", "locks": ["model", "peft.rank"]})",
       {{"unknown_value", "/locks/1"}}},

      {"Bf16AndFp16",
       R"({"model": "gpt2", "training": {"bf16": true, "fp16": true}})",
       {{"conflict", "/training/fp16"}}},
      {"FourAndEightBits",
       R"({"model": "gpt2", "peft": {}, "quantization": {"load_in_4bit": true, "load_in_8bit": true}})",
       {{"conflict", "/quantization/load_in_8bit"}}},
      {"FourBitsWithoutAdapters",
       R"({"model": "gpt2", "quantization": {"load_in_4bit": true}})",
       {{"conflict", "/quantization"}}},
      {"NullPeftIsNoAdapter",
       R"({"model": "gpt2", "peft": null, "quantization": {"load_in_4bit": true}})",
       {{"conflict", "/quantization"}}},
      {"Fp16OnFp16Weights",
       R"({"model": "gpt2", "model_args": {"dtype": "float16"}, "training": {"fp16": true}})",
       {{"conflict", "/training/fp16"}}},
      {"PackedAndPadded",
       R"({"model": "gpt2", "training": {"packing": true, "padded_batches": true}})",
       {{"conflict", "/training/packing"}}},

      {"ConfigMissing", R"({"model": {"name": "mine"}})", {{"missing", "/model/config"}}},
      {"ConfigIsNoObject", R"({"model": {"config": "llama"}})", {{"wrong_type", "/model/config"}}},
      {"ConfigBesideAnUnknownKey",
       R"({"model": {"config": {"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257, "n_positions": 1024}, "url": "x"}})",
       {{"unknown_key", "/model/url"}}},
      {"Reinforcement",
       R"({"model": "gpt2", "task": "grpo", "training": {"max_length": 100}, "rl": {"max_completion_length": 100}})",
       {{"conflict", "/rl/max_completion_length"}}},
      {"SeveralGpusWithoutAStrategy",
       R"({"model": "gpt2", "parallel": {"num_gpus": 2, "strategy": "none"}})",
       {{"conflict", "/parallel/strategy"}}},
      {"DeviceMapInSeveralProcesses",
       R"({"model": "gpt2", "model_args": {"device_map": "auto"}, "parallel": {"num_gpus": 2, "strategy": "ddp"}})",
       {{"conflict", "/model_args/device_map"}}},
      {"UnknownStrategy",
       R"({"model": "gpt2", "parallel": {"num_gpus": 2, "strategy": "zero4"}})",
       {{"unknown_value", "/parallel/strategy"}}},

      {"SeveralAtOnce",
       R"({"model": "gpt2", "trainer": 1, "peft": {"r": -4}, "training": {"optim": "adamw", "max_length": 1.5}, "hardware": {"gpu": "rtx-9090"}})",
       {{"unknown_key", "/trainer"},
        {"negative", "/peft/r"},
        {"unknown_value", "/training/optim"},
        {"fractional", "/training/max_length"},
        {"unknown_gpu", "/hardware/gpu"}}},
      {"ModelGpuAndStackAtOnce",
       R"({"model": "nothing", "stack": "keras", "hardware": {"gpu": "voodoo-2"}})",
       {{"unknown_model", "/model"}, {"unknown_gpu", "/hardware/gpu"}, {"unknown_stack", "/stack"}}},
      {"ConflictsAtOnce",
       R"({"model": "gpt2", "quantization": {"load_in_4bit": true, "load_in_8bit": true}, "training": {"bf16": true, "fp16": true}})",
       {{"conflict", "/training/fp16"},
        {"conflict", "/quantization/load_in_8bit"},
        {"conflict", "/quantization"}}},
  };
}

class BadRequest : public testing::TestWithParam<Bad> {};

TEST_P(BadRequest, IsRefusedByCodeAndPointer) {
  const Json answer = answer_text(GetParam().request);
  EXPECT_EQ(answer.at("ok"), false);
  std::vector<std::pair<std::string, std::string>> found, wanted = GetParam().errors;
  for (const Json& error : answer.at("errors")) {
    found.emplace_back(error.at("code").get<std::string>(), error.at("pointer").get<std::string>());
    EXPECT_FALSE(error.at("message").get<std::string>().empty()) << error;
    EXPECT_FALSE(error.at("allowed").get<std::string>().empty()) << error;
  }
  std::sort(found.begin(), found.end());
  std::sort(wanted.begin(), wanted.end());
  EXPECT_EQ(found, wanted);
  for (const char* part : {"model", "memory", "gpu", "tiers", "assumptions", "notes"}) {
    EXPECT_FALSE(answer.contains(part)) << part;
  }
}

INSTANTIATE_TEST_SUITE_P(Table, BadRequest, testing::ValuesIn(bad_requests()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ReportErrors, AnUnknownModelIsAnsweredWithThoseOfSimilarName) {
  const Json answer = answer_text(R"({"model": "mistralai/Mistral-7B-v0.9"})");
  const auto allowed = at(answer, "/errors/0/allowed").get<std::string>();
  EXPECT_NE(allowed.find("mistral-7b-v0.1"), std::string::npos) << allowed;
  EXPECT_NE(allowed.find("mistral-7b-v0.3"), std::string::npos) << allowed;
}

TEST(ReportErrors, WhatIsAllowedIsNamed) {
  const auto allowed = [](const std::string& request) {
    return at(answer_text(request), "/errors/0/allowed").get<std::string>();
  };
  EXPECT_EQ(allowed(R"({"model": "gpt2", "model_args": {"dtype": "bf16"}})"),
            "float32, bfloat16, float16, auto");
  EXPECT_EQ(allowed(R"({"model": "gpt2", "peft": {"r": 0}})"), "1 to 8192");
  EXPECT_NE(allowed(R"({"model": "gpt2", "stack": "keras"})").find("torchtune"), std::string::npos);
  EXPECT_NE(
      allowed(R"({"model": "gpt2", "training": {"batch_size": 4}})").find("per_device_train_batch_size"),
      std::string::npos);
  EXPECT_NE(allowed(R"({"model": "gpt2", "training": {"optim": "adam"}})").find("paged_adamw_8bit"),
            std::string::npos);
}

// A config.json that cannot be read says which field is missing or impossible.
TEST(ReportErrors, AnUnreadableConfigNamesItsField) {
  const Json config = {
      {"model_type", "llama"},   {"hidden_size", 4096},          {"intermediate_size", 11008},
      {"num_hidden_layers", 32}, {"num_attention_heads", 32},    {"num_key_value_heads", 32},
      {"vocab_size", 32000},     {"tie_word_embeddings", false}, {"max_position_embeddings", 4096}};
  ASSERT_EQ(answer({{"model", {{"config", config}}}}).at("ok"), true);
  for (const char* field : {"hidden_size", "num_hidden_layers", "vocab_size"}) {
    for (const Json& value : {Json(nullptr), Json(-1), Json("4096"), Json(1.5)}) {
      Json changed = config;
      if (value.is_null()) {
        changed.erase(field);
      } else {
        changed[field] = value;
      }
      const Json refused = answer({{"model", {{"config", changed}}}});
      ASSERT_EQ(refused.at("ok"), false) << field << value;
      EXPECT_EQ(at(refused, "/errors/0/pointer"), "/model/config/" + std::string(field)) << refused;
      EXPECT_FALSE(refused.contains("memory"));
    }
  }
}

TEST(ReportErrors, AnAnswerSaysWhetherItIsAReport) {
  for (const char* request : {R"({"model": "gpt2"})", R"({"model": "no such model"})", "{"}) {
    const ReportAnswer whole = report_answer(request, presets());
    EXPECT_EQ(whole.ok, answer_text(request).at("ok") == Json(true)) << request;
    EXPECT_EQ(whole.text, report_text(request, presets())) << request;
  }
}

TEST(ReportErrors, NoTextMakesTheReportFail) {
  const std::string good =
      R"({"model":"mistral-7b-v0.3","peft":{"r":16},"training":{"max_length":512,"bf16":true},"hardware":{"gpu":"a10g"}})";
  for (size_t cut = 0; cut < good.size(); ++cut) {
    EXPECT_EQ(answer_text(good.substr(0, cut)).at("ok"), false) << cut;
  }
  for (size_t i = 0; i < good.size(); ++i) {
    for (char letter : {'"', '{', '-', '9', '\xff', '\0'}) {
      std::string changed = good;
      changed[i] = letter;
      EXPECT_TRUE(answer_text(changed).contains("ok")) << changed;
    }
  }
}

// Found by the fuzzer: a merge of 2,048 x 2,048 patches makes a projector of 2e19 elements, more than a number holds.
TEST(ReportErrors, AConfigOfImpossibleWidthsIsCountedToTheLastNumberThatAReportTells) {
  const Json config = Json::parse(R"({"model_type": "qwen3_5_moe",
      "text_config": {"model_type": "qwen3_5_moe_text", "hidden_size": 4096, "num_hidden_layers": 60},
      "vision_config": {"hidden_size": 1152, "spatial_merge_size": 2048, "out_hidden_size": 4096}})");
  const Json report = answer({{"model", {{"config", config}, {"name", "wide"}}}});
  ASSERT_EQ(report.at("ok"), true) << report.dump().substr(0, 400);
  EXPECT_LE(bytes(report, "/model/trainable"), uint64_t{1} << 55);
}

TEST(Errors, WhereGpusShareNothingEveryStrategyThatSharesIsAllowed) {
  const Json refused = answer(
      Json::parse(R"({"model": "gpt2", "stack": "hf", "parallel": {"num_gpus": 2, "strategy": "none"}})"));
  const std::string allowed = refused.at("errors")[0].at("allowed");
  for (const recipe::StrategyRow& row : recipe::strategies())
    EXPECT_EQ(allowed.find(row.id) == std::string::npos, row.id == "none") << allowed;
}

}  // namespace
}  // namespace plimsoll::report
