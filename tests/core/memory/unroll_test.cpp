// A run written down tensor by tensor, where the drawn tests (tests/drawn/replay_checks.cpp) found it wrong.
#include "core/memory/step/unroll.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/run/run.h"
#include "tests/core/report_answers.h"

namespace plimsoll::memory {
namespace {

// A vision model spread over cards: the text goes backward elsewhere, so the projector's tensors are the first
// to go here, and they go in the backward.
TEST(Unroll, WhatAProjectorKeptIsThereWhenTheBackwardBegins) {
  json::Errors errors;
  const auto run = run::read_run(
      R"({"model": "internvl3-8b", "parallel": {"num_gpus": 8}, "peft": {"r": 8, "target_modules": "all-linear"},
          "training": {"per_device_train_batch_size": 4, "max_length": 2048, "gradient_checkpointing": false},
          "model_args": {"device_map": "auto"}, "vision": {"images_per_sample": 5, "freeze_vision_tower": false},
          "hardware": {"gpu": "a100-sxm-80"}})",
      report::presets(), errors);
  ASSERT_TRUE(run.has_value()) << errors.size();
  const Unrolled list = unroll(run->network, run->resolved.recipe, run->machine);
  const auto first = std::find_if(list.sections.begin(), list.sections.end(),
                                  [](const Section& section) { return section.phase == Phase::backward; });
  ASSERT_NE(first, list.sections.end());
  EXPECT_STREQ(first->part, "projector");
  EXPECT_GT(first->to, first->from);
}

// An 8-bit base holds the inputs of its last layers until the next loss is known: in a run of one step there was
// none before.
TEST(Unroll, TheFirstLossOfARunFollowsNone) {
  json::Errors errors;
  const auto run = run::read_run(
      R"({"model": "phi-3-mini-4k-instruct", "stack": "litgpt", "training": {"max_steps": 1},
          "quantization": {"load_in_8bit": true}, "peft": {"r": 8}})",
      report::presets(), errors);
  ASSERT_TRUE(run.has_value() && run->simulated) << errors.size();
  const double allocated = run->replay.at_peak().live.total();
  EXPECT_NEAR(static_cast<double>(run->simulated->roomy.allocated), allocated, 0.005 * allocated);
}

}  // namespace
}  // namespace plimsoll::memory
