// What people try that does not help, told where a run is of that kind and nowhere else.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/report/advice.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

using json::Json;

bool is_told(const Json& request, const char* code) {
  const Json habits = advice_on(request).at("habits");
  return std::any_of(habits.begin(), habits.end(),
                     [&](const Json& habit) { return habit.at("code") == code; });
}

Json lora(const char* gpu) {
  return {{"model", "llama-3.2-1b"},
          {"peft", {{"r", 64}}},
          {"training", {{"max_length", 2048}, {"bf16", true}, {"gradient_checkpointing", true}}},
          {"hardware", {{"gpu", gpu}}}};
}

// DDP copies the model to each card; device_map="auto" spreads its layers, and there the memory does add up.
TEST(Habits, CopiesAreToldOfUnderDdpAloneAndNotOfSpreadLayers) {
  Json request = lora("rtx-4090");
  request["parallel"] = {{"num_gpus", 2}};
  EXPECT_TRUE(is_told(request, "ddp_does_not_pool_memory"));
  request["model_args"]["device_map"] = "auto";
  EXPECT_FALSE(is_told(request, "ddp_does_not_pool_memory"));
}

// The simulated allocator holds more or less than the usual reserve, which is no saving of a lower rank.
TEST(Habits, ACutRankIsWeighedAlikeWhereTheAllocatorIsSimulated) {
  Json request = lora("rtx-4090");
  EXPECT_TRUE(is_told(request, "rank_cut_saves_little"));
  request["want"] = {"allocator"};
  EXPECT_TRUE(is_told(request, "rank_cut_saves_little"));
}

}  // namespace
}  // namespace plimsoll::report
