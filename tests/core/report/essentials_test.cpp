// What no file says is asked for, and every default says whose it is.
#include "core/run/essentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/json/at.h"
#include "core/report/exchange.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

using json::Json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> pointers_of(const Json& missing) {
  std::vector<std::string> pointers;
  for (const Json& one : missing) pointers.push_back(json::at(one, "pointer").get<std::string>());
  return pointers;
}

std::vector<std::string> missing_from(const std::string& text) {
  json::Errors errors;
  return pointers_of(
      json::at(json::parse(import_text(text, "", presets()), errors).value_or(Json()), "missing"));
}

std::string why(const Json& request, const std::string& pointer) {
  const Json report = answer(request);
  for (const Json& one : json::at(report, "assumptions")) {
    if (json::at(one, "pointer") == Json(pointer)) return json::at(one, "why").get<std::string>();
  }
  return "";
}

TEST(Essentials, ThatACommandDoesNotSayAreMissing) {
  EXPECT_THAT(missing_from("accelerate launch train.py --model_name_or_path Qwen/Qwen3-4B --bf16"),
              ElementsAre("/hardware/gpu", "/parallel/num_gpus", "/data/samples", "/training/max_length"));
}

TEST(Essentials, ThatAreSaidAreNotMissing) {
  EXPECT_THAT(missing_from(R"({"model": "gpt2", "hardware": {"gpu": "t4"}, "parallel": {"num_gpus": 1},
                               "training": {"max_length": 512}, "data": {"samples": 1000}})"),
              IsEmpty());
  EXPECT_THAT(missing_from(R"({"model": "gpt2", "hardware": {"gpu": "t4"}, "parallel": {"num_gpus": 1},
                               "training": {"max_length": 512, "max_steps": 100}})"),
              IsEmpty());
}

TEST(Essentials, APartOfAConfigurationMissesItsModel) {
  EXPECT_THAT(
      missing_from("accelerate launch --num_processes 2 train.py --bf16 --max_length 512 --max_steps 9"),
      ElementsAre("/model", "/hardware/gpu"));
}

// TRL cuts at 1024 by itself; that is said, not asked.
TEST(Essentials, ALengthThatTheStackSetsIsNotMissing) {
  EXPECT_THAT(missing_from("trl sft --model_name_or_path Qwen/Qwen3-4B --bf16 --num_processes 1"),
              ElementsAre("/hardware/gpu", "/data/samples"));
}

TEST(Essentials, ALengthThatNoStackSetsIsAskedForByTheReport) {
  for (const char* stack : {"hf", "torchtune", "litgpt", "loop"}) {
    const Json request = {{"model", "mistral-7b-v0.3"}, {"stack", stack}};
    const Json report = answer(request);
    bool asked = false;
    for (const Json& one : json::at(report, "assumptions"))
      asked = asked || (json::at(one, "pointer") == Json("/training/max_length") &&
                        json::at(one, "asked") == Json(true));
    EXPECT_TRUE(asked) << stack;
    EXPECT_THAT(why(request, "/training/max_length"), AllOf(HasSubstr("assumed"), Not(HasSubstr("TRL"))))
        << stack;
  }
}

TEST(Essentials, ADefaultNamesTheStackThatSetsIt) {
  const auto length = [](const char* stack) {
    return why({{"model", "mistral-7b-v0.3"}, {"stack", stack}}, "/training/max_length");
  };
  EXPECT_THAT(length("trl"), HasSubstr("TRL"));
  EXPECT_THAT(length("axolotl"), HasSubstr("Axolotl"));
  EXPECT_THAT(length("llamafactory"), HasSubstr("LLaMA-Factory"));
  EXPECT_THAT(length("unsloth"), HasSubstr("Unsloth"));
}

TEST(Essentials, OfATranscriptNoLengthIsAsked) {
  const Json report = answer({{"model", "openai/whisper-large-v3"}});
  for (const Json& one : json::at(report, "assumptions")) {
    if (json::at(one, "pointer") != Json("/training/max_length")) continue;
    EXPECT_EQ(json::at(one, "value"), Json(448));
    EXPECT_NE(json::at(one, "asked"), Json(true));
  }
}

TEST(Essentials, AWordForTheNewestVersionIsSaidAsAnAssumption) {
  for (const char* word : {"latest", "main", "git"}) {
    Json request = {{"model", "mistral-7b-v0.3"}, {"peft", {{"r", 8}}}};
    const Json usual = answer(request);
    request["versions"] = {{"transformers", word}, {"peft", word}};
    const Json report = answer(request);
    EXPECT_EQ(at(report, "/memory/peak"), at(usual, "/memory/peak"));
    std::map<std::string, std::string> why;
    for (const Json& one : json::at(report, "assumptions"))
      why[json::at(one, "pointer").get<std::string>()] = json::at(one, "why").get<std::string>();
    for (const char* pointer : {"/versions/transformers", "/versions/peft"})
      EXPECT_EQ(why[pointer], "the release taken where no number is given; say yours if it is another");
  }
}

TEST(Essentials, AVersionFromATagIsThatVersion) {
  const auto peak = [](const char* version) {
    return at(answer({{"model", "mistral-7b-v0.3"}, {"versions", {{"transformers", version}}}}),
              "/memory/peak");
  };
  EXPECT_EQ(peak("v4.40"), peak("4.40"));
  EXPECT_EQ(peak("4.40.0.dev0"), peak("4.40"));
  EXPECT_NE(peak("4.40"), peak("latest"));
}

// TrainingArguments are the Trainer's: a loop of its own knows nothing of them.
TEST(Essentials, NoDefaultOfTheTrainerIsSaidOfALoopOfItsOwn) {
  for (const char* stack : {"loop", "torchtune", "litgpt", "colossalai", "agilerl"}) {
    const Json report = answer({{"model", "mistral-7b-v0.3"}, {"stack", stack}, {"peft", {{"r", 8}}}});
    for (const Json& one : json::at(report, "assumptions")) {
      const std::string reason = json::at(one, "why").get<std::string>();
      EXPECT_THAT(reason, Not(HasSubstr("TrainingArguments"))) << stack << " " << json::write(one);
      EXPECT_THAT(reason, Not(HasSubstr("the Trainer's default"))) << stack << " " << json::write(one);
    }
  }
}

// vLLM takes its share of whatever card it is on: what a size is said to leave is what a card of it leaves.
TEST(Essentials, AShareOfTheCardIsThatOfEachSize) {
  Json request = {
      {"model", "qwen2.5-7b-instruct"},
      {"stack", "trl"},
      {"task", "grpo"},
      {"peft", {{"r", 8}}},
      {"model_args", {{"dtype", "bfloat16"}}},
      {"rl", {{"use_vllm", true}, {"vllm_mode", "colocate"}, {"vllm_gpu_memory_utilization", 0.4}}},
      {"training", {{"per_device_train_batch_size", 8}, {"bf16", true}}},
      {"hardware", {{"gpu", "h100-sxm"}}}};
  double said = 0;
  for (const Json& tier : at(answer(request), "/tiers"))
    if (tier.at("gib") == 40) said = tier.at("headroom").get<double>();
  request["hardware"]["gpu"] = "a100-sxm-40";
  EXPECT_NEAR(said, at(answer(request), "/gpu/headroom").get<double>(), 1.5 * (1U << 30U));
}

}  // namespace
}  // namespace plimsoll::report
