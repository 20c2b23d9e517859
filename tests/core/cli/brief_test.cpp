#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "core/cli/brief_table.h"
#include "core/cli/flags.h"
#include "core/cli/layout.h"
#include "core/cli/values.h"
#include "core/report/advice.h"
#include "tests/core/report_answers.h"

namespace plimsoll::cli {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

std::string brief(const std::string& request, const Style& style = {}) {
  return brief_table(report::answer_text(request), parsed(report::advice_text(request)), style);
}

constexpr const char* too_large =
    R"({"model": "llama-3.1-8b", "peft": {"r": 16}, "training": {"bf16": true, "max_length": 4096,
        "per_device_train_batch_size": 2}, "hardware": {"gpu": "rtx-4090"}, "parallel": {"num_gpus": 2}})";
constexpr const char* small =
    R"({"model": "gpt2", "peft": {}, "training": {"max_length": 512, "per_device_train_batch_size": 1},
        "hardware": {"gpu": "rtx-4090"}})";

TEST(BriefTable, SaysWhatIsMeantTheVerdictAndOneSubtraction) {
  const std::string text = brief(too_large);
  EXPECT_THAT(text, HasSubstr("meta-llama/Llama-3.1-8B on 2 x GeForce RTX 4090 24GB\n"));
  EXPECT_THAT(text, ContainsRegex("  no  Needs [0-9.]+ of 23\\.5 GiB: [0-9.]+ GiB too much on each\n"));
}

TEST(BriefTable, NamesTheThreeLargestComponentsTheLargestFirst) {
  const std::string text = brief(too_large);
  const std::size_t activations = text.find("  activations"), weights = text.find("  weights");
  EXPECT_NE(activations, std::string::npos);
  EXPECT_LT(activations, weights);
  EXPECT_THAT(text, Not(HasSubstr("cuda_context")));
}

TEST(BriefTable, NamesAtMostThreeFixesAsFlagsThatCanBeAdded) {
  const std::string text = brief(too_large);
  EXPECT_THAT(text, HasSubstr("Makes it fit\n  1  "));
  EXPECT_THAT(text, HasSubstr("--checkpointing"));
  EXPECT_THAT(text, HasSubstr("no effect on training"));
  EXPECT_THAT(text, Not(HasSubstr("\n  4  ")));
}

TEST(BriefTable, SaysWhatRoomIsLeftWhereItFits) {
  const std::string text = brief(small);
  EXPECT_THAT(text, HasSubstr("  fits  Needs "));
  EXPECT_THAT(text, HasSubstr("GiB to spare"));
  EXPECT_THAT(text, HasSubstr("Largest that still fits: batch "));
  EXPECT_THAT(text, Not(HasSubstr("Makes it fit")));
}

TEST(BriefTable, NamesTheSizesThatFitWhereNoCardIsNamed) {
  const std::string text = brief(
      R"({"model": "gpt2", "peft": {}, "training": {"max_length": 512, "per_device_train_batch_size": 1}})",
      {200, false});
  EXPECT_THAT(text, HasSubstr("Needs "));
  EXPECT_THAT(text, HasSubstr("Fits 6 GiB and more"));
  EXPECT_THAT(text, HasSubstr("Name a card with --gpu."));
}

TEST(BriefTable, SaysWhatOnlyAPersonCanKnowAndNobodySaid) {
  EXPECT_THAT(brief(R"({"model": "llama-3.1-8b", "peft": {}})"), HasSubstr("training.max_length = 1024"));
  EXPECT_THAT(brief(small), Not(HasSubstr("Not said")));
}

TEST(BriefTable, SaysTheLeastMemoryWhereNothingMakesItFit) {
  const std::string text = brief(R"({"model": "llama-3.1-405b", "hardware": {"gpu": "rtx-2060-6"}})");
  EXPECT_THAT(text, HasSubstr("Nothing makes it fit: the least is "));
}

TEST(BriefTable, StaysWithinTheWidthAndIsTheSameWithoutItsColours) {
  for (const std::size_t width : {60, 80, 120}) {
    std::istringstream stream(brief(small, {width, false}));
    for (std::string line; std::getline(stream, line);) EXPECT_LE(character_count(line), width) << line;
  }
  std::string coloured = brief(too_large, {80, true});
  EXPECT_THAT(coloured, HasSubstr("\x1b[31mno\x1b[0m"));
  for (std::size_t at = coloured.find('\x1b'); at != std::string::npos; at = coloured.find('\x1b'))
    coloured.erase(at, coloured.find('m', at) - at + 1);
  EXPECT_EQ(coloured, brief(too_large));
}

TEST(Flags, SayAFieldInOneWordOfACommandLine) {
  EXPECT_EQ(as_flag("/training/gradient_checkpointing", "true"), "--checkpointing");
  EXPECT_EQ(as_flag("/training/gradient_checkpointing", "false"),
            "--set=training.gradient_checkpointing=false");
  EXPECT_EQ(as_flag("/training/per_device_train_batch_size", "1"), "--batch=1");
  EXPECT_EQ(as_flag("/peft/target_modules", R"(["q_proj"])"), R"(--targets='["q_proj"]')");
  EXPECT_EQ(as_flag("/quantization/upcast", "none"), "--set=quantization.upcast=none");
}

TEST(Flags, EachStandForAFieldOfTheContract) {
  for (const Flag& flag : flags()) {
    bool found = std::string(flag.pointer) == "/model";
    for (const recipe::FieldInfo& field : recipe::fields()) {
      if (field.pointer != flag.pointer) continue;
      found = true;
      EXPECT_EQ(field.type == "flag", *flag.value == '\0') << flag.name;
    }
    EXPECT_TRUE(found) << flag.pointer;
  }
}

}  // namespace
}  // namespace plimsoll::cli
