// /memory/timeline: a bounded list of points that loses no peak.
#include <set>
#include <string>

#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

Json with_timeline(Json request) {
  request["want"] = {"timeline"};
  return answer(request);
}

TEST(Timeline, IsThereOnlyWhenItIsAskedFor) {
  EXPECT_FALSE(answer({{"model", "gpt2"}}).at("memory").contains("timeline"));
  EXPECT_TRUE(with_timeline({{"model", "gpt2"}}).at("memory").contains("timeline"));
}

TEST(Timeline, HasFourHundredPointsAtMostHoweverManyLayersThereAre) {
  std::size_t most = 0;
  for (const char* model : {"gpt2", "mistral-7b-v0.3", "llama-3.1-405b", "qwen2.5-72b", "whisper-small"}) {
    for (const uint64_t accumulation : {1, 16}) {
      const Json report = with_timeline({{"model", model},
                                         {"training", {{"gradient_accumulation_steps", accumulation}}},
                                         {"peft", {{"target_modules", "all-linear"}}}});
      const std::size_t points = at(report, "/memory/timeline/points").size();
      EXPECT_LE(points, 400u) << model;
      EXPECT_GE(points, 50u) << model;
      most = std::max(most, points);
    }
  }
  EXPECT_GT(most, 250u);
}

// How many of a row of "tensors" are alive at a point.
double count_at(const Json& row, std::size_t point) {
  double count = 0;
  const Json& counts = row.at("counts");
  for (std::size_t i = 0; i + 1 < counts.size() && counts[i].get<std::size_t>() <= point; i += 2)
    count = counts[i + 1].get<double>();
  return count;
}

TEST(Timeline, TheTensorsOfThePeakAreThoseThatAreAliveThere) {
  const Json report = with_timeline({{"model", "qwen2.5-7b"}, {"training", {{"max_length", 512}}}});
  const Json& timeline = at(report, "/memory/timeline");
  std::multiset<std::string> named, alive;
  for (const Json& row : timeline.at("tensors")) {
    if (count_at(row, timeline.at("peak").get<std::size_t>()) > 0)
      named.insert(row.at("what").get<std::string>());
  }
  for (const Json& row : timeline.at("alive")) alive.insert(row.at("what").get<std::string>());
  EXPECT_EQ(named, alive);
  EXPECT_GT(named.size(), 3u);
}

// LoRA on Mistral-7B, one sample: each of 32 checkpoints is 256 x 4096 x 2 bytes = 2 MiB.
TEST(Timeline, NamesTheCheckpointsOfAWorkedExample) {
  const Json report = with_timeline({{"model", "mistral-7b-v0.3"},
                                     {"model_args", {{"dtype", "float16"}}},
                                     {"peft", {{"r", 16}, {"target_modules", {"q_proj", "v_proj"}}}},
                                     {"training",
                                      {{"fp16", true},
                                       {"max_length", 256},
                                       {"per_device_train_batch_size", 1},
                                       {"gradient_checkpointing", true}}}});
  uint64_t checkpoints = 0;
  for (const Json& row : at(report, "/memory/timeline/alive")) {
    if (row.at("component") != "boundaries") continue;
    EXPECT_EQ(row.at("bytes"), 2097152u);
    checkpoints += row.at("count").get<uint64_t>();
  }
  EXPECT_EQ(checkpoints, 32u);
}

// A name says what the tensor is, in PyTorch's words, and is no clause about the run.
TEST(Timeline, NamesTensorsByWhatTheyAre) {
  const Json dpo = with_timeline({{"model", "qwen2.5-0.5b"}, {"stack", "loop"}, {"task", "dpo"}});
  const Json shared =
      with_timeline({{"model", "qwen2.5-0.5b"},
                     {"training", {{"gradient_checkpointing", true}, {"selective_checkpointing", true}}},
                     {"parallel", {{"num_gpus", 2}, {"strategy", "fsdp"}}}});
  std::set<std::string> names;
  for (const Json& report : {dpo, shared}) {
    for (const Json& row : at(report, "/memory/timeline/tensors"))
      names.insert(row.at("what").get<std::string>());
  }
  EXPECT_EQ(names.count("reference logits and log-probabilities"), 1u);
  EXPECT_EQ(names.count("all-gathered layer parameters"), 1u);
  for (const std::string& name : names) {
    for (const char* clause : {"what ", "this ", "that "})
      EXPECT_EQ(name.find(clause), std::string::npos) << name;
  }
}

TEST(Timeline, IsThatOfOneGpuOfSeveral) {
  for (const char* strategy : {"ddp", "fsdp", "fsdp2", "zero1", "zero2", "zero3"}) {
    const Json report =
        with_timeline({{"model", "qwen2.5-0.5b"}, {"parallel", {{"num_gpus", 2}, {"strategy", strategy}}}});
    EXPECT_TRUE(report.at("memory").contains("timeline")) << strategy;
  }
}

}  // namespace
}  // namespace plimsoll::report
