// Which attention a run gets that does not ask for one.
#include <gtest/gtest.h>

#include "core/recipe/sdpa_support.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

std::string attention_of(const char* model, const char* transformers) {
  const Json report = answer({{"model", model}, {"versions", {{"transformers", transformers}}}});
  for (const Json& assumption : report.value("assumptions", Json::array())) {
    if (assumption["pointer"] == "/model_args/attn_implementation") return assumption["value"];
  }
  return "";
}

TEST(RecipeSdpa, IsTheDefaultWhereTheModelClassHasIt) {
  EXPECT_EQ(attention_of("llama-2-7b-hf", "4.36"), "sdpa");
  EXPECT_EQ(attention_of("mistral-7b-v0.1", "4.36"), "eager");
  EXPECT_EQ(attention_of("mistral-7b-v0.1", "4.37"), "sdpa");
  EXPECT_EQ(attention_of("gpt2", "4.41"), "eager");
  EXPECT_EQ(attention_of("gpt2", "4.42"), "sdpa");
  EXPECT_EQ(attention_of("gpt-oss-20b", "5.15"), "eager");  // its sinks
  EXPECT_EQ(attention_of("llama-2-7b-hf", "4.35"), "eager");
}

TEST(RecipeSdpa, WasTakenFromGemma2Twice) {
  EXPECT_TRUE(recipe::supports_sdpa("gemma2", "4.44"));
  EXPECT_FALSE(recipe::supports_sdpa("gemma2", "4.46"));
  EXPECT_TRUE(recipe::supports_sdpa("gemma2", "5.20"));
  EXPECT_FALSE(recipe::supports_sdpa("gemma2", "5.21"));
}

// `_supports_flash_attn` of the classes: huggingface/transformers src/transformers/models/*/modeling_*.py.
TEST(RecipeFlashAttention, IsInTheReleasesWhoseClassesHaveIt) {
  for (const char* never : {"t5", "llama4", "deepseek_v4", "bloom", "codegen"}) {
    EXPECT_FALSE(recipe::supports_flash_attention(never, "4.57")) << never;
    EXPECT_FALSE(recipe::supports_flash_attention(never, "5.23")) << never;
  }
  EXPECT_FALSE(recipe::supports_flash_attention("bert", "4.57"));
  EXPECT_TRUE(recipe::supports_flash_attention("bert", "5.0"));
  EXPECT_FALSE(recipe::supports_flash_attention("mllama", "4.51"));
  EXPECT_TRUE(recipe::supports_flash_attention("mllama", "5.22"));
  EXPECT_FALSE(recipe::supports_flash_attention("mllama", "5.23"));
  EXPECT_TRUE(recipe::supports_flash_attention("gpt_oss", "5.23"));  // a kernel of the hub takes its place
}

}  // namespace
}  // namespace plimsoll::report
