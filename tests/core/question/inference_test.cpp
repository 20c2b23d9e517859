// Questions about a model that is served get no figure of a training run.
#include <gtest/gtest.h>

#include "core/report/diagnose.h"
#include "tests/core/explained.h"

namespace plimsoll::question {
namespace {

json::Json answered(std::string_view text) {
  json::Errors none;
  return json::parse(report::diagnosis_text(text, "", "", diagnosis::catalog()), none).value();
}
std::string summary_of_text(std::string_view text) { return answered(text).at("summary").get<std::string>(); }
bool mentions_part(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(Inference, IsToldByTheWeightsAndTheCacheAlone) {
  const std::string words = summary_of_text("How much VRAM for inference with Llama-3.1-8B?");
  EXPECT_TRUE(mentions_part(words, "about inference")) << words;
  EXPECT_TRUE(mentions_part(words, "14.96 GiB in bfloat16")) << words;
  EXPECT_TRUE(mentions_part(words, "4096 tokens take another 512.00 MiB")) << words;
  EXPECT_FALSE(mentions_part(words, "LoRA needs")) << words;
}

TEST(Inference, IsToldByTheEngineThatIsNamed) {
  const std::string words = summary_of_text("can I run Llama 70B on 2x3090 with vLLM?");
  EXPECT_TRUE(mentions_part(words, "go into 47.36 GiB: in bfloat16 no, in 8 bits no, in 4 bits yes"))
      << words;
  EXPECT_FALSE(mentions_part(words, "LoRA on")) << words;
}

TEST(Inference, IsNotRuledOutByAModelsName) {
  EXPECT_TRUE(mentions_part(
      summary_of_text("Can I host deepseek-r1-distill-llama-70b behind an API, to host it on 4 A6000s?"),
      "about inference"));
}

TEST(Inference, IsToldInGermanAndChinese) {
  EXPECT_TRUE(mentions_part(summary_of_text("Wie viel VRAM braucht Mistral 7B nur für Inferenz?"),
                            "about inference"));
  EXPECT_TRUE(mentions_part(summary_of_text("部署Qwen2.5-14B推理需要多少显存？一张3090够吗？"),
                            "27.51 GiB in bfloat16"));
}

TEST(Inference, NamesNoCauseOfATrainingRunAndNoRequest) {
  const json::Json answer = answered(
      "Why does loading a 7b model with VLLM require 70GB of vram? LLM(\"Qwen/Qwen2.5-VL-7B-Instruct\")");
  EXPECT_EQ(answer.at("inference"), json::Json(true));
  EXPECT_TRUE(answer.at("causes").empty());
  EXPECT_TRUE(answer.at("answers").empty());
  EXPECT_TRUE(answer.at("request").is_null());
  EXPECT_TRUE(answer.at("said").at("request").empty());
  EXPECT_FALSE(mentions_part(answer.at("summary").get<std::string>(), "70.00 GiB"));  // no card is as large
}

TEST(Inference, IsNotMeantWhereAWordOfTrainingStands) {
  EXPECT_FALSE(answered("RLHF of Llama-3-8B with vLLM on 8x A100 80GB, will it fit?").contains("inference"));
  EXPECT_FALSE(
      answered("My 4090 serves my display too, can Llama-3.2-3B be fine-tuned on it?").contains("inference"));
}

TEST(Inference, OfATrainingRunWithAnEngineBesideItIsPriced) {
  EXPECT_TRUE(
      mentions_part(summary_of_text("GRPO of Qwen2.5-1.5B with LoRA and vLLM on one A100 80GB, will it fit?"),
                    "LoRA on one"));
}

TEST(Inference, IsMeantWhereAModelIsRunAndNothingIsTrained) {
  const std::string run = summary_of_text("Can I run Llama 3.1 70B on 2x RTX 3090?");
  EXPECT_TRUE(mentions_part(run, "about inference")) << run;
  const std::string step =
      summary_of_text("Can I run Llama 3.1 8B with batch size 4 and ZeRO-3 on 4x A100 80GB?");
  EXPECT_TRUE(mentions_part(step, "LoRA on 4 x A100")) << step;
}

TEST(Inference, ThatFailedIsStillExplained) {
  const json::Json answer = answered("CUDA out of memory during inference with the tuned model");
  EXPECT_FALSE(answer.at("messages").empty());
  const json::Json engine = answered(
      "vLLM stops with Qwen2.5-7B on a 4090: No available memory for the cache blocks. Try increasing "
      "`gpu_memory_utilization` when initializing the engine.");
  EXPECT_FALSE(engine.contains("inference"));
  EXPECT_EQ(engine.at("causes").at(0).at("id"), "vllm_kv_cache");
  EXPECT_TRUE(engine.at("answers").empty());
}

}  // namespace
}  // namespace plimsoll::question
