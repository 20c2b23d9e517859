// Versions are compared number by number, not letter by letter.
#include <gtest/gtest.h>

#include "core/recipe/recipe.h"
#include "core/recipe/version.h"

namespace plimsoll::recipe {
namespace {

TEST(RecipeVersions, AreOrderedByTheirNumbers) {
  const std::vector<std::string> rising = {"0.7.5", "0.9.3", "0.27",   "1.0.0", "1.9", "1.13.1", "2.0",
                                           "4.9",   "4.46",  "4.46.3", "4.57",  "5.0", "5.15",   "10.0"};
  for (size_t i = 0; i < rising.size(); ++i) {
    for (size_t j = 0; j < rising.size(); ++j) {
      EXPECT_EQ(version_at_least(rising[i], rising[j]), i >= j) << rising[i] << " " << rising[j];
    }
  }
}

TEST(RecipeVersions, MissingPartsCountAsZero) {
  EXPECT_TRUE(version_at_least("5", "5.0.0"));
  EXPECT_TRUE(version_at_least("5.0.0", "5"));
  EXPECT_TRUE(version_at_least("4.46.0", "4.46"));
  EXPECT_FALSE(version_at_least("4", "4.0.1"));
}

TEST(RecipeVersions, WhatFollowsTheNumbersIsNotCompared) {
  EXPECT_TRUE(version_at_least("5.0.0.dev0", "5"));
  EXPECT_TRUE(version_at_least("2.6.0+cu124", "2.6"));
  EXPECT_FALSE(version_at_least("2.6.0+cu124", "2.6.1"));
  EXPECT_TRUE(version_at_least("4.46.0rc1", "4.46"));
}

TEST(RecipeVersions, TextWithoutNumbersIsOlderThanEverything) {
  EXPECT_FALSE(version_at_least("", "0.1"));
  EXPECT_FALSE(version_at_least("latest", "0.1"));
}

TEST(RecipeVersions, AreReadAsPipPrintsThem) {
  for (const char* version : {"4.51.3", "5", "4.51.0.dev0", "4.46.0rc1", "0.41.3.post2", "2.6.0+cu124",
                              "0.12.0.dev0+14ef1ab", "2.1.0a0+32f93b1", "2026.9.3", "0.0.20231016"})
    EXPECT_EQ(version_of(version), version);
  EXPECT_EQ(version_of("v4.46"), "4.46");
  EXPECT_EQ(version_of(" 4.46\n"), "4.46");
  for (const char* text : {"", "v", "latest", "main", ">=4.46", "==4.46", "4.46.*", "4.46.", "4..46", ".4",
                           "-4", "4,46", "4.46 or later", "4.46+", "git+https://github.com/huggingface/trl"})
    EXPECT_EQ(version_of(text), "") << text;
}

TEST(RecipeVersions, AWordMeansTheNewestAndANumberDoesNot) {
  for (const char* word : {"latest", "main", "git"}) EXPECT_TRUE(means_the_newest(word)) << word;
  for (const char* text : {"", "4.51", "v4.51", "5.0.0.dev0"})
    EXPECT_FALSE(means_the_newest(version_of(text))) << text;
}

TEST(RecipeVersions, ConditionsAreJoinedByCommas) {
  EXPECT_TRUE(version_matches("4.46", ">=4.46,<5"));
  EXPECT_TRUE(version_matches("4.57.6", ">=4.46,<5"));
  EXPECT_FALSE(version_matches("4.9", ">=4.46,<5"));
  EXPECT_FALSE(version_matches("5.0.0", ">=4.46,<5"));
  EXPECT_TRUE(version_matches("5.15", ">5"));
  EXPECT_FALSE(version_matches("5", ">5"));
  EXPECT_TRUE(version_matches("5", "<=5"));
}

TEST(RecipeVersions, AVersionAloneMeansThatPrefix) {
  EXPECT_TRUE(version_matches("4.51.3", "4.51"));
  EXPECT_TRUE(version_matches("4.51.3", "=4.51.3"));
  EXPECT_FALSE(version_matches("4.5", "4.51"));
  EXPECT_FALSE(version_matches("4.52", "4.51"));
}

TEST(RecipeVersions, AConditionWithoutANumberHoldsNever) {
  EXPECT_FALSE(version_matches("5.15", ""));
  EXPECT_FALSE(version_matches("5.15", ">="));
  EXPECT_FALSE(version_matches("5.15", ">=5,"));
}

}  // namespace
}  // namespace plimsoll::recipe
