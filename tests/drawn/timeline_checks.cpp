// What a report draws of a step, and what its simulated allocator holds, against the rest of the report.
#include <algorithm>
#include <cmath>
#include <map>

#include "core/memory/step/unroll.h"
#include "tests/drawn/checks.h"

namespace plimsoll::drawn {

namespace {

// The same request with one optional part of the report, and no other.
Draw with_part(const Draw& draw, const char* part) {
  Json request = draw.request;
  request["want"] = {part};
  return answered(draw.seed, request);
}

constexpr double beyond_telling = 9007199254740992.0;  // 2^53: a report says no more

double sum_of(const Json& point) {
  double sum = 0;
  for (const Json& bytes : point.at("bytes")) sum += bytes.get<double>();
  return sum;
}

// How many of a row of "tensors" are alive at a point.
double count_at(const Json& row, std::size_t point) {
  double count = 0;
  const Json& counts = row.at("counts");
  for (std::size_t i = 0; i + 1 < counts.size() && counts[i].get<std::size_t>() <= point; i += 2)
    count = counts[i + 1].get<double>();
  return count;
}

// The most that a component holds anywhere. Beyond 2^53 bytes its running sum loses bytes, and misses them afterwards.
double most_held(const Json& timeline, std::size_t component) {
  double most = 0;
  for (const Json& point : timeline.at("points"))
    most = std::max(most, point.at("bytes")[component].get<double>());
  return most;
}

// Every tensor is rounded to a byte, and there are many of the small ones.
void tensors_add_up(const Draw& draw, const Json& timeline, std::size_t point) {
  std::map<std::string, double> sums, counted;
  for (const Json& row : timeline.at("tensors")) {
    const auto component = row.at("component").get<std::string>();
    sums[component] += row.at("bytes").get<double>() * count_at(row, point);
    counted[component] += count_at(row, point);
  }
  for (std::size_t i = 0; i < timeline.at("components").size(); ++i) {
    const auto id = timeline.at("components")[i].get<std::string>();
    const auto held = timeline.at("points")[point].at("bytes")[i].get<double>();
    if (held >= beyond_telling) continue;
    EXPECT_NEAR(sums[id], held, rounding(held) + counted[id] + 1e-14 * most_held(timeline, i))
        << id << " at " << point << said(draw);
  }
}

// What ColossalAI's ZeRO-2 may hold beside its closed form: gradients that are made whole before they are cut
// (cut_later in replay_checks.cpp).
double cut_later(const Draw& draw) {
  const bool of_colossal = stated(draw, "/parallel/zero_optimization/library") == "colossalai" ||
                           stated(draw, "/stack") == "colossalai";
  const bool slices = stated(draw, "/parallel/strategy") == "zero2" && of_colossal;
  const auto trained = draw.report.at("/model/trainable"_json_pointer).get<double>();
  return slices ? 4 * trained : 0;
}

// Loading is left out: the largest matrix is not the last one to be packed. So is the first step, of which
// nothing is drawn, and preparation where it begins with more than it leaves.
void peaks_are_drawn(const Draw& draw, const Json& memory) {
  const Json& timeline = memory.at("timeline");
  std::map<std::string, double> highest;
  for (const Json& point : timeline.at("points")) {
    ASSERT_EQ(point.at("bytes").size(), timeline.at("components").size()) << said(draw);
    double& most = highest[point.at("instant").get<std::string>()];
    most = std::max(most, sum_of(point));
  }
  const bool one_step = highest.count("optimizer_step") == 0;
  for (const Json& row : memory.at("instants")) {
    const auto id = row.at("id").get<std::string>();
    if (highest.count(id) == 0 || id == "load" || one_step || id == "optimizer_step_first") continue;
    const auto allocated = row.at("allocated").get<double>();
    if (allocated >= beyond_telling) continue;
    if (id == "prepare") {
      EXPECT_GE(highest[id], allocated - rounding(allocated)) << said(draw);
      continue;
    }
    if (highest[id] > allocated && highest[id] < allocated + cut_later(draw)) continue;
    EXPECT_NEAR(highest[id], allocated, rounding(allocated)) << id << said(draw);
  }
}

}  // namespace

void timeline_keeps_every_peak(const Draw& draw) {
  const Draw drawn = with_part(draw, "timeline");
  ASSERT_TRUE(is_answered(drawn)) << drawn.answer.substr(0, 400) << said(draw);
  Json report = drawn.report;
  if (!report.at("memory").contains("timeline")) return;  // replayed in closed form alone
  const Json& memory = drawn.report.at("memory");
  const Json& timeline = memory.at("timeline");
  const std::size_t points = timeline.at("points").size();
  EXPECT_LE(points, 400u) << said(draw);
  peaks_are_drawn(draw, memory);
  for (std::size_t point = 0; point < points; point += 1 + points / 20) tensors_add_up(draw, timeline, point);
  tensors_add_up(draw, timeline, timeline.at("peak").get<std::size_t>());
  report["memory"].erase("timeline");
  Json without = draw.request;
  without.erase("want");
  EXPECT_EQ(report, answered(draw.seed, without).report) << "the timeline changes the report" << said(draw);
}

void simulated_allocator_holds_what_is_allocated(const Draw& draw) {
  const Draw held = with_part(draw, "allocator");
  ASSERT_TRUE(is_answered(held)) << held.answer.substr(0, 400) << said(draw);
  readings_are_ordered(held);
  const Json& said_of = held.report.at("memory");
  if (!said_of.contains("allocator")) return;
  const Json& peak = said_of.at("peak");
  // Loading is counted with the largest matrix last; and passes without a graph are not simulated.
  bool simulated = false;
  for (std::size_t p = 1; p < memory::traced_phases; ++p)
    simulated |= peak.at("instant") == name(static_cast<memory::Phase>(p));
  if (!simulated) return;
  EXPECT_LE(peak.at("allocated").get<double>(),
            said_of.at("allocator").at("reserved").get<double>() + rounding(0))
      << said(draw);
}

}  // namespace plimsoll::drawn
