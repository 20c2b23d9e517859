// What the fuzzer found once (tests/fuzz/found) is well today.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/fuzz/ways.h"

namespace plimsoll::fuzz {
namespace {

TEST(Fuzzer, WhatItFoundOnceIsWellToday) {
  std::size_t texts = 0;
  for (const auto& entry : std::filesystem::directory_iterator(FOUND_FOLDER)) {
    const std::string name = entry.path().filename().string();
    if (name == "README.md") continue;
    const Way* way = find_way(name.substr(0, name.find('-')));
    ASSERT_NE(way, nullptr) << name << " does not begin with a way of tests/fuzz/ways.cpp";
    std::ifstream stream(entry.path(), std::ios::binary);
    EXPECT_EQ(way->wrong({std::istreambuf_iterator<char>(stream), {}}), "") << name;
    ++texts;
  }
  EXPECT_GT(texts, 0u);
}

}  // namespace
}  // namespace plimsoll::fuzz
