// Short lines of everyday: a method, targets, a length and a card that stand there without a word around them.
#include <gtest/gtest.h>

#include "core/json/at.h"
#include "core/run/usual.h"
#include "tests/core/question/said.h"

namespace plimsoll::question {
namespace {

json::Json first_request(std::string_view text) {
  const Answers answers = answer(said(text), diagnosis::catalog());
  return answers.ways.empty() ? json::Json() : answers.ways.front().request;
}

TEST(ShortLine, FullBesideACardIsTheMethod) {
  const std::vector<Method> full = {Method::full};
  EXPECT_EQ(said("Qwen3-4B full on a 5090, 2k").methods, full);
  EXPECT_EQ(said("GRPO Qwen2.5-1.5B full on 1 H100, 512 completion").methods, full);
  EXPECT_EQ(said("Reicht eine RTX 5090 für das volle Fine-Tuning von Qwen3-4B?").methods, full);
  EXPECT_EQ(said("continue pretraining llama 3.1 8b at 16k on 8xH100 with fsdp").methods, full);
  EXPECT_NE(said("Qwen3-4B on a 4090: memory is full at 4k").methods, full);
  EXPECT_NE(said("QLoRA Qwen3-4B at full context on a 4090").methods, full);
}

TEST(ShortLine, TargetsAreTheModulesThatAreNamed) {
  const char* targets = "/peft/target_modules";
  EXPECT_EQ(value_of("LoRA on q_proj and v_proj only, Qwen3-4B, RTX 3060 12GB", targets),
            R"(["q_proj","v_proj"])");
  EXPECT_EQ(value_of("LoRA of Llama-3.1-8B, attention only, on a 4090", targets),
            R"(["q_proj","k_proj","v_proj","o_proj"])");
  EXPECT_EQ(value_of("QLoRA llama 3.1 8b targets q,v r=8", targets), R"(["q_proj","v_proj"])");
  EXPECT_EQ(value_of("LoRA of Llama-3.1-8B with flash attention on a 4090", targets), "");
}

TEST(ShortLine, APowerOfTwoThatNothingClaimsIsTheLength) {
  const char* length = "/training/max_length";
  EXPECT_EQ(value_of("QLoRA Llama 3.1 8B 8192 on a 4090", length), "8192");
  EXPECT_EQ(value_of("FFT Qwen3-4B 5090 2048", length), "2048");
  EXPECT_EQ(value_of("QLoRA Llama 3.1 8B on a 4090, 1024 samples", length), "");
  EXPECT_EQ(value_of("QLoRA Llama 3.1 8B on a 4090, batch 512", length), "");
}

TEST(ShortLine, ASizeBehindABoardIsTheCards) {
  EXPECT_EQ(said("LoRA Llama-3.1-8B on an A100-80").cards.front().gpu->id, "a100-sxm-80");
  EXPECT_EQ(said("LoRA Llama-3.1-8B on a V100 32").cards.front().gpu->tier_gib, 32U);
}

TEST(ShortLine, AModelsPageNamesIt) {
  EXPECT_EQ(said("QLoRA of https://huggingface.co/Qwen/Qwen3-14B on a 3090").model, "Qwen/Qwen3-14B");
  EXPECT_EQ(said("QLoRA of https://huggingface.co/someone/own-thing/tree/main on a 3090").unknown_model,
            "someone/own-thing");
  EXPECT_EQ(said("QLoRA, see https://huggingface.co/docs/peft on a 3090").unknown_model, "");
}

// 36 GiB it was with TRL and 21 without, as TRL loads float32 where nothing is said.
TEST(ShortLine, NamingTrlIsNotAskingForFloat32) {
  EXPECT_EQ(first_request("LoRA Qwen3-8B with TRL on a 4090 at 2k").at("model_args").at("dtype"), "bfloat16");
}

TEST(ShortLine, IsTakenAsTheFormTakesIt) {
  for (const char* text :
       {"LoRA Qwen3-8B on a 4090 at 2k", "LoRA of bge-m3 on a 4090, batch 8, 512 tokens"}) {
    const json::Json priced = first_request(text);
    json::Json plain = said(text).request();
    for (const run::Choice& one : run::usual_choices(plain, diagnosis::catalog()))
      plain[json::Json::json_pointer(one.pointer)] = one.value;
    EXPECT_EQ(json::at(json::at(priced, "training"), "gradient_checkpointing"),
              json::at(json::at(plain, "training"), "gradient_checkpointing"))
        << text;
  }
}

TEST(ShortLine, AnEmbeddingModelLearnsScores) {
  EXPECT_EQ(first_request("full fine-tune Qwen3-Embedding-0.6B batch 64 length 512 on 3090").at("task"),
            "classification");
}

}  // namespace
}  // namespace plimsoll::question
