// Versions are compared number by number, not letter by letter.
#include <gtest/gtest.h>

#include "core/recipe/recipe.h"

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
