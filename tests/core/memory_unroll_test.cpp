// The list of a whole run holds the same bytes at each instant as the closed forms over repeated layers.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "core/memory/timeline.h"
#include "core/report/run.h"
#include "tests/core/drawn_requests.h"

namespace plimsoll::memory {
namespace {

using report::drawn;

constexpr uint64_t requests = 200;

report::Run run_of(const json::Json& request) {
  json::Errors errors;
  auto run = report::read_run(json::write(request), report::presets(), errors);
  EXPECT_TRUE(run.has_value()) << request;
  return run.value();
}

// Highest live bytes by instant, counted event by event.
std::map<std::string, Snapshot> highest_of(const Unrolled& run) {
  std::map<std::string, Snapshot> highest;
  std::vector<Event> alive(run.tensors);
  std::vector<char> lives(run.tensors, 0);
  Snapshot live;
  double total = 0;
  for (const Section& section : run.sections) {
    const bool counts = section.step != 1 || section.phase == Phase::optimizer_step_first;
    Snapshot& so_far = highest[name(section.phase)];
    if (counts && total > so_far.total()) so_far = live;
    for (std::size_t i = section.from; i < section.to; ++i) {
      const Event& event = run.events[i];
      Event& known = alive[event.tensor];
      if (event.kind == Event::Kind::allocate) {
        EXPECT_EQ(lives[event.tensor], 0) << event.what;
        total += event.bytes;
      } else {
        EXPECT_EQ(lives[event.tensor], 1) << event.what << " is released though it does not exist";
        EXPECT_EQ(known.bytes, event.bytes) << event.what;
        live[known.component] -= known.bytes;
      }
      lives[event.tensor] = event.kind == Event::Kind::release ? 0 : 1;
      if (event.kind == Event::Kind::release) total -= event.bytes;
      if (event.kind != Event::Kind::release) live[event.component] += event.bytes;
      known = event;
      if (counts && total > so_far.total()) so_far = live;
    }
  }
  return highest;
}

std::string differences(const Snapshot& unrolled, const Snapshot& closed) {
  std::string words;
  for (std::size_t i = 0; i < component_count; ++i) {
    if (unrolled.bytes[i] == closed.bytes[i]) continue;
    words += "\n  component " + std::to_string(i) + ": unrolled " + std::to_string(unrolled.bytes[i]) +
             ", closed form " + std::to_string(closed.bytes[i]);
  }
  return words;
}

TEST(Unrolled, HoldsWhatTheClosedFormsSayAtEveryInstant) {
  for (uint64_t seed = 0; seed < requests; ++seed) {
    const report::Run run = run_of(drawn(seed));
    if (!unrolls(run.resolved.recipe)) continue;
    const Unrolled list = unroll(run.network, run.resolved.recipe, run.machine);
    std::map<std::string, Snapshot> highest = highest_of(list);
    for (const Instant& instant : run.replay.instants) {
      if (instant.id == "load") {  // the largest matrix is not the last one to be packed
        EXPECT_LE(highest[std::string(instant.id)].total(), instant.live.total() + 64) << drawn(seed);
        EXPECT_GE(highest[std::string(instant.id)].total(), run.replay.parameters.loaded_bytes - 64)
            << drawn(seed);
        continue;
      }
      const Snapshot& most = highest[std::string(instant.id)];
      EXPECT_NEAR(most.total(), instant.live.total(), 64)
          << instant.id << " of request " << seed << ": " << drawn(seed) << differences(most, instant.live);
    }
  }
}

TEST(Unrolled, ReachesTheHighestPointOfItsFirstStepWhereTheClosedFormSays) {
  for (uint64_t seed = 0; seed < requests; ++seed) {
    const report::Run run = run_of(drawn(seed));
    if (!unrolls(run.resolved.recipe)) continue;
    const Unrolled list = unroll(run.network, run.resolved.recipe, run.machine);
    double live = 0;
    double highest = 0;
    for (const Section& section : list.sections) {
      if (section.step == 2) break;
      for (std::size_t i = section.from; i < section.to; ++i) {
        if (list.events[i].kind == Event::Kind::allocate) live += list.events[i].bytes;
        if (list.events[i].kind == Event::Kind::release) live -= list.events[i].bytes;
        highest = std::max(highest, live);
      }
    }
    const FirstStep first = first_step(run.replay, run.resolved.recipe);
    if (first.instant == "load") continue;  // the largest matrix is not the last one to be packed
    EXPECT_NEAR(first.allocated, highest, 64)
        << first.instant << " of request " << seed << ": " << drawn(seed);
  }
}

// A drawing shows a later step alone: without the first one the list is about half as long, and the same.
TEST(Unrolled, TheLaterStepIsTheSameWhenTheFirstIsLeftOut) {
  for (uint64_t seed = 0; seed < requests; seed += 3) {
    const report::Run run = run_of(drawn(seed));
    const recipe::Recipe& recipe = run.resolved.recipe;
    if (!unrolls(recipe)) continue;
    const Unrolled both = unroll(run.network, recipe, run.machine);
    const Unrolled later = unroll(run.network, recipe, run.machine, Steps::later);
    EXPECT_LE(later.events.size(), both.events.size()) << drawn(seed);
    const Timeline whole = timeline(both), drawn_alone = timeline(later);
    ASSERT_EQ(whole.points.size(), drawn_alone.points.size()) << drawn(seed);
    EXPECT_EQ(whole.peak, drawn_alone.peak) << drawn(seed);
    for (std::size_t i = 0; i < whole.points.size(); ++i) {
      EXPECT_EQ(whole.points[i].phase, drawn_alone.points[i].phase) << drawn(seed);
      EXPECT_NEAR(whole.points[i].live.total(), drawn_alone.points[i].live.total(), 1) << drawn(seed);
    }
    EXPECT_EQ(whole.alive_at(whole.peak).size(), drawn_alone.alive_at(whole.peak).size()) << drawn(seed);
  }
}

// The highest sum of each instant, and the highest of each component.
std::array<double, component_count + 16> heights_of(const Timeline& t) {
  std::array<double, component_count + 16> highest{};
  for (const Point& point : t.points) {
    double& of_instant = highest[component_count + static_cast<std::size_t>(point.phase)];
    of_instant = std::max(of_instant, point.live.total());
    for (std::size_t c = 0; c < component_count; ++c) highest[c] = std::max(highest[c], point.live.bytes[c]);
  }
  return highest;
}

TEST(Unrolled, WhatIsLeftOutOfADrawingIsNeverAtItsHighestMoments) {
  for (uint64_t seed = 0; seed < requests; ++seed) {
    const report::Run run = run_of(drawn(seed));
    const recipe::Recipe& recipe = run.resolved.recipe;
    if (!unrolls(recipe)) continue;
    const Unrolled all = unroll(run.network, recipe, run.machine, Steps::later);
    const Unrolled some = unroll(run.network, recipe, run.machine, Steps::drawn);
    EXPECT_LE(some.events.size(), all.events.size()) << drawn(seed);
    const Timeline whole = timeline(all), shorter = timeline(some);
    const auto wanted = heights_of(whole), given = heights_of(shorter);
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(wanted[i], given[i], 1) << i << drawn(seed);
    EXPECT_EQ(whole.alive_at(whole.peak).size(), shorter.alive_at(shorter.peak).size()) << drawn(seed);
  }
}

TEST(Unrolled, ReleasesAllThatOneStepMakes) {
  for (uint64_t seed = 0; seed < requests; seed += 5) {
    const report::Run run = run_of(drawn(seed));
    if (!unrolls(run.resolved.recipe)) continue;
    const Unrolled list = unroll(run.network, run.resolved.recipe, run.machine);
    double live = 0;
    std::array<double, 3> after{};
    for (const Section& section : list.sections) {
      for (std::size_t i = section.from; i < section.to; ++i) {
        const Event& event = list.events[i];
        if (event.kind == Event::Kind::allocate) live += event.bytes;
        if (event.kind == Event::Kind::release) live -= event.bytes;
      }
      after.at(section.step) = live;
    }
    EXPECT_NEAR(after[1], after[2], 1) << drawn(seed);
  }
}

}  // namespace
}  // namespace plimsoll::memory
