#include "core/cli/typed.h"

#include <gtest/gtest.h>

#include "tests/core/report_answers.h"

namespace plimsoll::cli {
namespace {

using json::Json;

Typed read(const std::string& pointer, const std::string& text) {
  for (const recipe::FieldInfo& field : recipe::fields()) {
    if (field.pointer == pointer) return typed(field, text, report::presets());
  }
  ADD_FAILURE() << "there is no field " << pointer;
  return {};
}

std::string written(const std::string& pointer, const std::string& text) {
  return json::write(read(pointer, text).value);
}

TEST(Amounts, AreReadAsPeopleWriteThem) {
  EXPECT_EQ(amount("4096", true), 4096);
  EXPECT_EQ(amount("8,192", true), 8192);
  EXPECT_EQ(amount("1,234,567", true), 1234567);
  EXPECT_EQ(amount("1e4", true), 10000);
  EXPECT_EQ(amount("8_192", true), 8192);
  EXPECT_EQ(amount(" 0.5 ", false), 0.5);
}

TEST(Amounts, CountTokensInPowersOfTwoAndEverythingElseInThousands) {
  EXPECT_EQ(amount("4k", true), 4096);
  EXPECT_EQ(amount("128K", true), 131072);
  EXPECT_EQ(amount("50k", false), 50000);
  EXPECT_EQ(amount("1.5m", false), 1500000);
}

TEST(Amounts, AreNothingWhereTheTextIsNoNumber) {
  for (const char* text : {"", "k", "4kk", "four", "8,19", "1,2345", ",123", "4 096 tokens", "1,5k"}) {
    EXPECT_FALSE(amount(text, true).has_value()) << text;
  }
}

TEST(TypedValues, HaveTheTypeOfTheirField) {
  EXPECT_EQ(written("/training/max_length", "4k"), "4096");
  EXPECT_EQ(read("/training/max_length", "4k").why, "for 4k");
  EXPECT_EQ(written("/training/max_length", "1e4"), "10000");
  EXPECT_EQ(written("/data/samples", "50k"), "50000");
  EXPECT_EQ(written("/peft/lora_dropout", "0.05"), "0.05");
  EXPECT_EQ(written("/training/packing", "yes"), "true");
  EXPECT_EQ(written("/training/packing", "false"), "false");
  EXPECT_EQ(written("/training/optim", "paged_adamw_8bit"), "\"paged_adamw_8bit\"");
  EXPECT_EQ(written("/versions/transformers", "4.51"), "\"4.51\"");
  EXPECT_EQ(written("/peft/target_modules", "q_proj, v_proj"), R"(["q_proj","v_proj"])");
  EXPECT_EQ(written("/peft/target_modules", "q_proj"), R"(["q_proj"])");
  EXPECT_EQ(written("/peft/target_modules", ".*(q|v)_proj"), R"(".*(q|v)_proj")");
  EXPECT_EQ(written("/peft/target_modules", "all-linear"), R"("all-linear")");
  EXPECT_EQ(written("/locks", "peft.r,training.max_length"), R"(["peft.r","training.max_length"])");
  EXPECT_EQ(written("/model_args/max_memory", R"({"0": "20GiB"})"), R"({"0":"20GiB"})");
  EXPECT_EQ(written("/peft/r", "null"), "null");
}

TEST(TypedValues, StayTextWhereTheyCannotBeUnderstoodSoThatTheCoreRefusesThem) {
  EXPECT_EQ(written("/training/max_length", "long"), "\"long\"");
  EXPECT_EQ(written("/training/packing", "perhaps"), "\"perhaps\"");
  EXPECT_EQ(written("/training/optim", "adamw_tosch"), "\"adamw_tosch\"");
  EXPECT_EQ(written("/training/max_length", "-1"), "-1");
}

TEST(TypedValues, AreFoundByTheirPartsWhenOnlyOneHasThem) {
  EXPECT_EQ(written("/hardware/gpu", "4090"), "\"rtx-4090\"");
  EXPECT_EQ(read("/hardware/gpu", "4090").why, "found by the parts of \"4090\"");
  EXPECT_EQ(written("/hardware/gpu", "RTX 4090 Laptop"), "\"rtx-4090-laptop\"");
  EXPECT_EQ(written("/hardware/gpu", "a10"), "\"a10\"");
  EXPECT_EQ(written("/hardware/gpu", "7900xtx"), "\"rx-7900-xtx\"");
  EXPECT_EQ(written("/training/optim", "adamw8bit"), "\"adamw_8bit\"");
  EXPECT_EQ(written("/model_args/attn_implementation", "xformer"), "\"xformers\"");
  EXPECT_EQ(written("/stack", "ms swift"), "\"ms-swift\"");
}

TEST(TypedValues, AreLeftWithTheirCandidatesWhereSeveralNamesShareTheParts) {
  const Typed v100 = read("/hardware/gpu", "v100");
  EXPECT_EQ(v100.value, Json("v100"));
  ASSERT_EQ(v100.candidates.size(), 3u);  // a slice of one says "mig"
  EXPECT_EQ(v100.candidates[0], "v100-pcie-16");
  EXPECT_EQ(v100.candidates[1], "v100-sxm2-16");
  EXPECT_EQ(v100.candidates[2], "v100-sxm2-32");
  EXPECT_FALSE(read("/hardware/gpu", "h100 mig").candidates.empty());
  EXPECT_TRUE(read("/hardware/gpu", "4090").candidates.empty());
  EXPECT_TRUE(read("/hardware/gpu", "voodoo").candidates.empty());
}

TEST(TypedModels, AreListedNamesOrTheOnlyOneWithTheseParts) {
  EXPECT_EQ(typed_model("llama-3.1-8b", report::presets()).value, Json("meta-llama/Llama-3.1-8B"));
  EXPECT_EQ(typed_model("Qwen/Qwen3-8B", report::presets()).value, Json("Qwen/Qwen3-8B"));
  EXPECT_EQ(typed_model("jamba large", report::presets()).value, Json("ai21-jamba-1.5-large"));
  EXPECT_FALSE(typed_model("llama-70b", report::presets()).candidates.empty());
  EXPECT_EQ(typed_model("nobody/nothing-7b", report::presets()).value, Json("nobody/nothing-7b"));
}

TEST(TypedModels, SayWhoseShapesTheyHaveWhereThePresetIsAnother) {
  const Typed tuned = typed_model("llama-3.1-8b-instruct", report::presets());
  EXPECT_EQ(tuned.value, Json("meta-llama/Llama-3.1-8B-Instruct"));
  EXPECT_EQ(tuned.why, "its shapes are those of meta-llama/Llama-3.1-8B");
  EXPECT_EQ(typed_model("llama-3.1-8b", report::presets()).why, "");
}

}  // namespace
}  // namespace plimsoll::cli
