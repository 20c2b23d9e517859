// Several GPUs, and programs that most runs do not use, unrolled: the list holds at each instant what the
// closed forms say.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/memory/unroll.h"
#include "core/report/run.h"
#include "tests/core/drawn_programs.h"

namespace plimsoll::report {
namespace {

constexpr uint64_t requests = 240;

// Highest live bytes by instant; a tensor that is made twice, or given back though it does not exist, is
// told.
std::map<std::string, double> highest_totals(const memory::Unrolled& run, const Json& request) {
  std::map<std::string, double> highest;
  std::vector<char> lives(run.tensors, 0);
  double live = 0;
  uint64_t wrong = 0;
  for (const memory::Section& section : run.sections) {
    double& so_far = highest[memory::name(section.phase)];
    const bool counts = section.step != 1;
    if (counts) so_far = std::max(so_far, live);
    for (std::size_t i = section.from; i < section.to; ++i) {
      const memory::Event& event = run.events[i];
      const bool made = event.kind == memory::Event::Kind::allocate;
      wrong += (lives[event.tensor] != 0) == made ? 1 : 0;
      lives[event.tensor] = event.kind == memory::Event::Kind::release ? 0 : 1;
      if (made) live += event.bytes;
      if (event.kind == memory::Event::Kind::release) live -= event.bytes;
      if (counts) so_far = std::max(so_far, live);
    }
  }
  EXPECT_EQ(wrong, 0U) << request;
  return highest;
}

// False where the request asks for what does not go together.
bool expect_equal_forms(const Json& request) {
  json::Errors errors;
  const auto run = read_run(json::write(request), presets(), errors);
  if (!run.has_value()) return false;
  const recipe::Recipe& recipe = run->resolved.recipe;
  EXPECT_TRUE(memory::unrolls(recipe)) << request;
  const auto highest = highest_totals(memory::unroll(run->network, recipe, run->machine), request);
  for (const memory::Instant& instant : run->replay.instants) {
    const auto found = highest.find(std::string(instant.id));
    if (found == highest.end() || instant.id == "optimizer_step_first") continue;
    if (instant.id == "load") {  // the largest matrix is not the last one to be packed
      EXPECT_LE(found->second, instant.live.total() + 64) << request;
      continue;
    }
    EXPECT_NEAR(found->second, instant.live.total(), 64) << instant.id << " of " << request;
  }
  return true;
}

TEST(UnrolledRanks, HoldWhatTheClosedFormsSay) {
  uint64_t valid = 0;
  for (uint64_t seed = 0; seed < requests; ++seed) valid += expect_equal_forms(drawn_on_ranks(seed)) ? 1 : 0;
  EXPECT_GT(valid, requests / 2);
}

TEST(UnrolledPrograms, HoldWhatTheClosedFormsSay) {
  uint64_t valid = 0;
  for (uint64_t seed = 0; seed < requests; ++seed) valid += expect_equal_forms(drawn_program(seed)) ? 1 : 0;
  EXPECT_GT(valid, requests / 2);
}

TEST(UnrolledTasks, HoldWhatTheClosedFormsSay) {
  uint64_t valid = 0;
  for (uint64_t seed = 0; seed < requests; ++seed) valid += expect_equal_forms(drawn_task(seed)) ? 1 : 0;
  EXPECT_GT(valid, requests / 2);
}

TEST(UnrolledRanks, GiveATimelineOfOneGpu) {
  for (const std::string& strategy : rank_strategies) {
    const Json request = {{"model", "qwen2.5-0.5b"},
                          {"parallel", {{"num_gpus", 2}, {"strategy", strategy}}},
                          {"want", {"timeline"}}};
    EXPECT_TRUE(answer(request).at("memory").contains("timeline")) << strategy;
  }
}

}  // namespace
}  // namespace plimsoll::report
