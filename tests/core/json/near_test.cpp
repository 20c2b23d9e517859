#include "core/json/near.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json/at.h"
#include "tests/core/report_answers.h"

namespace plimsoll {
namespace {

using json::did_you_mean;
using json::near;
using testing::HasSubstr;

constexpr const char* cards =
    "a100-pcie-40\tA100 PCIe 40GB, a100-sxm-80\tA100 SXM4 80GB, rtx-4080, rtx-4090, rtx-4090-laptop, t4";

TEST(Near, FindsANameByAPartOfItTheShortestFirst) {
  EXPECT_EQ(near("4090", cards).names, "rtx-4090");
  EXPECT_TRUE(near("4090", cards).by_parts);
  EXPECT_EQ(near("4090 Laptop", cards).names, "rtx-4090-laptop");
  EXPECT_EQ(near("RTX4090", cards).names, "rtx-4090");
  EXPECT_EQ(near("a100 80gb", cards).names, "a100-sxm-80");
}

TEST(Near, NamesAllThatAreEquallyGood) { EXPECT_EQ(near("a100", cards).names, "a100-pcie-40, a100-sxm-80"); }

TEST(Near, TakesNoPartOfANumberForTheNumber) {
  EXPECT_FALSE(near("409", cards).by_parts);
  EXPECT_EQ(near("90", cards).names, "");
}

TEST(Near, TakesTheBeginningOfAWordForTheWord) {
  EXPECT_EQ(near("checkpoint", "gradient_checkpointing, packing").names, "gradient_checkpointing");
}

TEST(Near, FindsASlipOfThePenAndSaysThatItIsOne) {
  EXPECT_EQ(near("rtx-4909", cards).names, "rtx-4090");
  EXPECT_FALSE(near("rtx-4909", cards).by_parts);
  EXPECT_EQ(near("axolotle", "hf, trl, axolotl").names, "axolotl");
}

TEST(Near, TakesTwoNeighboursThatChangedPlacesForOneSlip) {
  EXPECT_EQ(near("fdsp", "none, ddp, fsdp, zero2").names, "fsdp");
  EXPECT_EQ(near("axolotol", "trl, axolotl, torchtune").names, "axolotl");
}

TEST(Near, FindsASlipInAPartOfAName) {
  EXPECT_EQ(near("4900", cards).names, "rtx-4090");
  EXPECT_EQ(near("laptpo", cards).names, "rtx-4090-laptop");
  EXPECT_EQ(near("a10", cards).names, "");
  EXPECT_FALSE(near("4900", cards).by_parts);
}

TEST(Near, LeavesOutWhatTheNameDoesNotHave) {
  EXPECT_EQ(near("max_seq_length", "max_length, max_steps").names, "max_length");
}

TEST(Near, FindsNothingForNothingAndForAnythingElse) {
  EXPECT_EQ(near("", cards).names, "");
  EXPECT_EQ(near("--", cards).names, "");
  EXPECT_EQ(near("voodoo", cards).names, "");
  EXPECT_EQ(near(std::string(10000, 'x'), cards).names, "");
  EXPECT_EQ(near("4090", "").names, "");
  EXPECT_EQ(did_you_mean("voodoo", cards), "");
}

std::string message_of(const std::string& request) {
  const json::Json report = report::answer_text(request);
  const json::Json& errors = json::at(report, "errors");
  return errors.empty() ? "" : json::write(json::at(errors[0], "message"));
}

TEST(Near, EndsTheErrorsOfTheCore) {
  EXPECT_THAT(message_of(R"({"model": "gpt2", "hardware": {"gpu": "4090"}})"),
              HasSubstr("Did you mean rtx-4090?"));
  EXPECT_THAT(message_of(R"({"model": "gpt2", "training": {"optim": "adamw_tosch"}})"),
              HasSubstr("Did you mean adamw_torch?"));
  EXPECT_THAT(message_of(R"({"model": "gpt2", "training": {"max_seq_length": 5}})"),
              HasSubstr("Did you mean max_length?"));
  EXPECT_THAT(message_of(R"({"model": "gpt2", "stack": "axolotle"})"), HasSubstr("Did you mean axolotl?"));
  EXPECT_THAT(message_of(R"({"model": "mixtrel-8x7b-v0.1"})"), HasSubstr("Did you mean mixtral-8x7b-v0.1?"));
  EXPECT_THAT(message_of(R"({"model": "gpt2", "hardware": {"gpu": "4900"}})"),
              HasSubstr("Did you mean rtx-4090"));
  EXPECT_THAT(message_of(R"({"model": "gpt2", "parallel": {"strategy": "fdsp"}})"),
              HasSubstr("Did you mean fsdp?"));
  EXPECT_THAT(message_of(R"({"model": "gpt2", "want": ["plan"]})"), HasSubstr("Did you mean plans?"));
}

}  // namespace
}  // namespace plimsoll
