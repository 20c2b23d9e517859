// One of several GPUs, unrolled: the list holds at each instant what the closed forms say.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "core/memory/unroll.h"
#include "core/report/run.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

std::map<std::string, double> highest_totals(const memory::Unrolled& run) {
  std::map<std::string, double> highest;
  double live = 0;
  for (const memory::Section& section : run.sections) {
    double& so_far = highest[memory::name(section.phase)];
    const bool counts = section.step != 1;
    if (counts) so_far = std::max(so_far, live);
    for (std::size_t i = section.from; i < section.to; ++i) {
      const memory::Event& event = run.events[i];
      if (event.kind == memory::Event::Kind::allocate) live += event.bytes;
      if (event.kind == memory::Event::Kind::release) live -= event.bytes;
      if (counts) so_far = std::max(so_far, live);
    }
  }
  return highest;
}

Json rank_request(const char* strategy, uint64_t gpus, bool adapters, bool checkpointing, bool reentrant,
                  bool bf16) {
  Json request = {{"model", "qwen2.5-0.5b"},
                  {"stack", "trl"},
                  {"model_args", {{"dtype", "bfloat16"}, {"attn_implementation", "flash_attention_2"}}},
                  {"training",
                   {{"per_device_train_batch_size", 2},
                    {"max_length", 1024},
                    {"bf16", bf16},
                    {"optim", "adamw_torch"},
                    {"gradient_checkpointing", checkpointing}}},
                  {"parallel", {{"num_gpus", gpus}, {"strategy", strategy}}}};
  if (checkpointing) request["training"]["gradient_checkpointing_kwargs"] = {{"use_reentrant", reentrant}};
  if (adapters)
    request["peft"] = {{"r", 16}, {"lora_dropout", 0.1}, {"target_modules", {"q_proj", "v_proj"}}};
  return request;
}

void expect_equal_forms(const Json& request) {
  json::Errors errors;
  const auto run = read_run(json::write(request), presets(), errors);
  ASSERT_TRUE(run.has_value()) << request;
  const recipe::Recipe& recipe = run->resolved.recipe;
  ASSERT_TRUE(memory::unrolls(run->network, recipe)) << request;
  const auto highest = highest_totals(memory::unroll(run->network, recipe, run->machine));
  for (const memory::Instant& instant : run->replay.instants) {
    const auto found = highest.find(instant.id);
    if (found == highest.end() || instant.id == "optimizer_step_first") continue;
    EXPECT_NEAR(found->second, instant.live.total(), 64) << instant.id << " of " << request;
  }
}

TEST(UnrolledRanks, HoldWhatTheClosedFormsSay) {
  for (const bool bf16 : {true, false}) {
    for (const bool checkpointing : {true, false}) {
      for (const bool reentrant : {true, false}) {
        for (const bool adapters : {true, false})
          expect_equal_forms(rank_request("ddp", 2, adapters, checkpointing, reentrant, bf16));
        for (const uint64_t gpus : {2, 3, 4, 8})
          expect_equal_forms(rank_request("fsdp", gpus, true, checkpointing, reentrant, bf16));
      }
    }
  }
}

TEST(UnrolledRanks, GiveATimelineOfOneGpu) {
  for (const char* strategy : {"ddp", "fsdp"}) {
    Json request = rank_request(strategy, 2, true, true, true, true);
    request["want"] = {"timeline"};
    EXPECT_TRUE(answer(request).contains("timeline") || answer(request).at("memory").contains("timeline"));
  }
}

}  // namespace
}  // namespace plimsoll::report
