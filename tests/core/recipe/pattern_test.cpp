// Regular expressions of target_modules. What must match is what Python's re.fullmatch says.
#include "core/recipe/pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace plimsoll::recipe {
namespace {

bool matches(const std::string& pattern, const std::string& text) {
  std::string why;
  const auto read = read_pattern(pattern, why);
  EXPECT_TRUE(read.has_value()) << pattern << ": " << why;
  return read && read->matches(text);
}

std::string refusal(const std::string& pattern) {
  std::string why;
  EXPECT_FALSE(read_pattern(pattern, why).has_value()) << pattern;
  return why;
}

const std::string q = "model.language_model.layers.11.self_attn.q_proj";

TEST(Pattern, TheWholeNameMustMatch) {
  EXPECT_TRUE(matches(".*", q));
  EXPECT_TRUE(matches(".*q_proj", q));
  EXPECT_FALSE(matches("q_proj", q));
  EXPECT_FALSE(matches("model", q));
  EXPECT_TRUE(matches("", ""));
  EXPECT_FALSE(matches("", "a"));
}

TEST(Pattern, GroupsAndAlternativesWithClassesAndCounts) {
  EXPECT_TRUE(matches(R"(.*\.(q|k|v)_proj)", q));
  EXPECT_FALSE(matches(R"(.*\.(k|v)_proj)", q));
  EXPECT_TRUE(matches(R"(model\.language_model\.layers\.\d+\.self_attn\.[qkvo]_proj)", q));
  EXPECT_TRUE(matches(R"(.*layers\.[0-9]{2}\..*)", q));
  EXPECT_FALSE(matches(R"(.*layers\.[0-9]{3}\..*)", q));
  EXPECT_TRUE(matches("a{2,3}", "aaa"));
  EXPECT_FALSE(matches("a{2,3}", "aaaa"));
  EXPECT_TRUE(matches("a{,2}b{1,}", "bb"));
  EXPECT_TRUE(matches("(?:ab)*c?", "ababc"));
  EXPECT_TRUE(matches("a{x}", "a{x}"));
  EXPECT_TRUE(matches("[^.]+\\.[]a]", "x.]"));
  EXPECT_TRUE(matches("(a|b|)c", "c"));
}

TEST(Pattern, AnchorsAndBoundariesAndLookahead) {
  EXPECT_TRUE(matches(R"(^(?!.*visual).*_proj$)", q));
  EXPECT_FALSE(matches(R"(^(?!.*visual).*_proj$)", "model.visual.q_proj"));
  EXPECT_TRUE(matches(R"((?=.*self_attn).*q_proj)", q));
  EXPECT_TRUE(matches(R"(\bmodel\b.*)", q));
  EXPECT_FALSE(matches(R"(.*\blanguage\b.*)", q));
}

// Unsloth's get_peft_regex and ms-swift's target_regex, which people paste from their logs.
TEST(Pattern, WhatLibrariesWriteIsRead) {
  const std::string unsloth =
      R"((?:.*?(?:language|text).*?(?:self_attn|attention|attn|mlp|feed_forward|ffn|dense).*?)"
      R"((?:q_proj|k_proj|v_proj|o_proj|gate_proj|up_proj|down_proj).*?)|)"
      R"((?:\bmodel\.layers\.[\d]{1,}\.(?:self_attn|attention|attn|mlp)\.(?:(?:q_proj|k_proj))))";
  EXPECT_TRUE(matches(unsloth, q));
  EXPECT_TRUE(matches(unsloth, "model.layers.3.self_attn.k_proj"));
  EXPECT_FALSE(matches(unsloth, "model.visual.blocks.3.attn.qkv"));
  EXPECT_TRUE(matches(R"(^(model\.language_model(?=\.).*\.(k_proj|q_proj|v_proj))$)", q));
}

TEST(Pattern, WhatCannotBeReadIsRefusedWithAReason) {
  for (const char* pattern :
       {"(a", "a)", "[a", "*a", "a\\", "(?<=a)b", "(a)\\1", "a{3,2}", "(((a{99}){99}){99}){99}"}) {
    EXPECT_FALSE(refusal(pattern).empty()) << pattern;
  }
}

TEST(Pattern, NestedRepetitionTakesNoMoreThanItsLength) {
  const std::string text(4000, 'a');
  EXPECT_FALSE(matches("(a*)*b", text));
  EXPECT_FALSE(matches("(a|a)*(a|a)*b", text));
}

}  // namespace
}  // namespace plimsoll::recipe
