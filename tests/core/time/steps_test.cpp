// How many steps a run has, and what one of them works on.
#include <string>

#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

Json eight_billion(const Json& training) {
  return {{"model", "llama-3.1-8b"},
          {"training", training},
          {"peft", {{"target_modules", "all-linear"}}},
          {"data", {{"samples", 8000}}},
          {"hardware", {{"gpu", "h100-sxm"}}}};
}

double steps(const Json& request) { return at(answer(request), "/time/steps").get<double>(); }

TEST(Steps, AStatedNumberIsThatOfTheRunWhateverTheDataHas) {
  Json request = eight_billion({{"max_steps", 60}});
  EXPECT_EQ(steps(request), 60);
  request["data"]["epochs"] = 3;
  EXPECT_EQ(steps(request), 60);
  request.erase("data");
  EXPECT_EQ(steps(request), 60);
  EXPECT_GT(at(answer(request), "/time/hours").get<double>(), 0);
}

// huggingface/trl v1.16 trl/trainer/utils.py RepeatSampler.__len__: samples x mini_repeat_count x repeat_count.
TEST(Steps, EachAnswerToAPromptIsASampleOfABatch) {
  Json request = eight_billion({{"per_device_train_batch_size", 8}});
  request["stack"] = "trl";
  request["task"] = "grpo";
  request["rl"] = {{"num_generations", 8}};
  EXPECT_EQ(steps(request), 8000);
  request["rl"]["num_generations"] = 2;
  EXPECT_EQ(steps(request), 2000);
  request["rl"]["num_iterations"] = 2;
  EXPECT_EQ(steps(request), 4000);
  request["rl"] = {{"num_generations", 8}};
  request["versions"] = {{"trl", "0.14"}};  // whose batches are prompts
  EXPECT_EQ(steps(request), 1000);
}

TEST(Steps, LayersSpreadOverCardsReadOneBatch) {
  Json request = eight_billion({{"per_device_train_batch_size", 8}});
  const Json one = at(answer(request), "/time");
  request["parallel"] = {{"num_gpus", 4}};
  request["model_args"] = {{"device_map", "auto"}};
  const Json spread = at(answer(request), "/time");
  EXPECT_EQ(spread.at("steps"), one.at("steps"));
  EXPECT_EQ(spread.at("tokens_per_step"), one.at("tokens_per_step"));
  EXPECT_GE(spread.at("hours").get<double>(), 0.9 * one.at("hours").get<double>());
}

TEST(Steps, ProcessesThatShareARowReadOneBatchTogether) {
  Json request = eight_billion({{"per_device_train_batch_size", 8}, {"max_length", 8192}});
  const Json one = at(answer(request), "/time");
  request["parallel"] = {{"num_gpus", 4}, {"strategy", "ddp"}, {"sequence_parallel_size", 4}};
  const Json shared = at(answer(request), "/time");
  EXPECT_EQ(shared.at("steps"), one.at("steps"));
  EXPECT_EQ(shared.at("tokens_per_step"), one.at("tokens_per_step"));
  EXPECT_LT(shared.at("hours").get<double>(), 0.5 * one.at("hours").get<double>());
}

TEST(Steps, AStackOfExpertsIsSteppedWhole) {
  Json request = {{"model", "qwen3-30b-a3b"},
                  {"training", {{"optim", "adamw_torch_fused"}}},
                  {"model_args", {{"dtype", "bfloat16"}}},
                  {"versions", {{"transformers", "4.57"}}},
                  {"hardware", {{"gpu", "b300-sxm"}}}};
  const auto optimizer = [&request] { return at(answer(request), "/time/parts/optimizer").get<double>(); };
  const double apart = optimizer();
  request["versions"]["transformers"] = "5.15";
  EXPECT_NEAR(optimizer(), apart, 0.05 * apart);
}

TEST(Steps, ACheckpointTakesWhatTheReportSaysOnManyCardsToo) {
  for (const char* strategy : {"fsdp", "zero2"}) {
    Json request = {{"model", "llama-3.1-8b"},
                    {"training", {{"save_steps", 100}}},
                    {"parallel", {{"num_gpus", 8}, {"strategy", strategy}}},
                    {"data", {{"samples", 80000}}},
                    {"hardware", {{"gpu", "h100-sxm"}}}};
    const Json whole = answer(request);
    const double kept = at(whole, "/time/checkpoints_kept").get<double>();
    EXPECT_NEAR(at(whole, "/time/disk_bytes").get<double>(),
                kept * at(whole, "/model/checkpoint_bytes").get<double>(), kept);
    request["training"]["save_only_model"] = true;
    EXPECT_LT(2 * bytes(answer(request), "/model/checkpoint_bytes"), bytes(whole, "/model/checkpoint_bytes"));
  }
}

}  // namespace
}  // namespace plimsoll::report
