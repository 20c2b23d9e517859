// /memory/timeline: a bounded list of points that loses no peak.
#include <map>
#include <set>
#include <string>

#include "tests/core/drawn_requests.h"

namespace plimsoll::report {
namespace {

Json with_timeline(Json request) {
  request["want"] = {"timeline"};
  return answer(request);
}

uint64_t sum_of(const Json& point) {
  uint64_t sum = 0;
  for (const Json& bytes : point.at("bytes")) sum += bytes.get<uint64_t>();
  return sum;
}

TEST(Timeline, IsThereOnlyWhenItIsAskedFor) {
  EXPECT_FALSE(answer({{"model", "gpt2"}}).at("memory").contains("timeline"));
  EXPECT_TRUE(with_timeline({{"model", "gpt2"}}).at("memory").contains("timeline"));
}

TEST(Timeline, ChangesNothingElseInTheReport) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Json report = with_timeline(drawn(seed));
    report["memory"].erase("timeline");
    EXPECT_EQ(report, answer(drawn(seed))) << drawn(seed);
  }
}

TEST(Timeline, KeepsThePeakOfEveryInstant) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const Json report = with_timeline(drawn(seed));
    if (!report.at("memory").contains("timeline"))
      continue;  // a program that is replayed in closed form alone
    const Json& timeline = at(report, "/memory/timeline");
    std::map<std::string, uint64_t> highest;
    for (const Json& point : timeline.at("points")) {
      ASSERT_EQ(point.at("bytes").size(), timeline.at("components").size());
      uint64_t& most = highest[point.at("instant").get<std::string>()];
      most = std::max(most, sum_of(point));
    }
    for (const Json& row : at(report, "/memory/instants")) {
      const auto id = row.at("id").get<std::string>();
      if (id == "optimizer_step_first") continue;  // a later step is drawn
      if (id == "load") continue;                  // the largest matrix is not the last one to be packed
      EXPECT_NEAR(static_cast<double>(highest[id]), row.at("allocated").get<double>(), 64)
          << id << drawn(seed);
    }
    if (at(report, "/memory/peak/instant") == "load") continue;
    const std::size_t peak = timeline.at("peak").get<std::size_t>();
    EXPECT_NEAR(static_cast<double>(sum_of(timeline.at("points").at(peak))),
                at(report, "/memory/peak/allocated").get<double>(), 64)
        << drawn(seed);
  }
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

TEST(Timeline, TheTensorsAtThePeakAddUpToIt) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const Json report = with_timeline(drawn(seed));
    if (!report.at("memory").contains("timeline")) continue;
    if (at(report, "/memory/peak/instant") == "load") continue;
    double sum = 0;
    for (const Json& row : at(report, "/memory/timeline/alive")) {
      sum += row.at("bytes").get<double>() * row.at("count").get<double>();
    }
    const auto peak = at(report, "/memory/peak/allocated").get<double>();
    EXPECT_NEAR(sum, peak, 1e-6 * peak) << drawn(seed);
  }
}

// How many of a row of "tensors" are alive at a point.
double count_at(const Json& row, std::size_t point) {
  double count = 0;
  const Json& counts = row.at("counts");
  for (std::size_t i = 0; i + 1 < counts.size() && counts[i].get<std::size_t>() <= point; i += 2)
    count = counts[i + 1].get<double>();
  return count;
}

TEST(Timeline, TheTensorsAtEveryPointAddUpToWhatEachComponentHolds) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const Json report = with_timeline(drawn(seed));
    if (!report.at("memory").contains("timeline")) continue;
    const Json& timeline = at(report, "/memory/timeline");
    const Json& points = timeline.at("points");
    for (std::size_t point = 0; point < points.size(); point += 7) {
      std::map<std::string, double> sums;
      for (const Json& row : timeline.at("tensors"))
        sums[row.at("component")] += row.at("bytes").get<double>() * count_at(row, point);
      for (std::size_t i = 0; i < timeline.at("components").size(); ++i) {
        const auto held = points[point].at("bytes")[i].get<double>();
        EXPECT_NEAR(sums[timeline.at("components")[i]], held, 64 + 1e-6 * held)
            << timeline.at("components")[i] << " at " << point << drawn(seed);
      }
    }
  }
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

}  // namespace
}  // namespace plimsoll::report
