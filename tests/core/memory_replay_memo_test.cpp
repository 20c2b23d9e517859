// Layers that were replayed before are taken over only where nothing of them differs.
#include "core/memory/replay_memo.h"
#include "core/recipe/fields.h"
#include "core/report/run.h"
#include "tests/core/drawn_requests.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

// Neighbours of a recipe, as the search for plans tries them one after another.
std::vector<recipe::Recipe> neighbours(const recipe::Recipe& recipe) {
  std::vector<recipe::Recipe> all(8, recipe);
  all[1].training.per_device_train_batch_size += 1;
  all[2].training.gradient_checkpointing = !recipe.training.gradient_checkpointing;
  all[3].training.gradient_accumulation_steps += 1;
  all[4].model_args.attn_implementation = "eager";
  all[5].peft.r = std::max<uint64_t>(1, recipe.peft.r / 2);
  all[6].training.max_length = std::max<uint64_t>(1, recipe.training.max_length / 2);
  all[7].training.optim = "adafactor";
  return all;
}

TEST(ReplayMemo, ChangesNoReplay) {
  uint64_t reused = 0, compared = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    json::Errors errors;
    const auto run = read_run(json::write(drawn(seed)), presets(), errors);
    if (!run) continue;
    memory::ReplayMemo memo(run->network);
    memory::Machine machine = run->machine;
    machine.memo = &memo;
    for (int round = 0; round < 2; ++round) {
      for (const recipe::Recipe& recipe : neighbours(run->resolved.recipe)) {
        const memory::Replay walked = memory::replay(run->network, recipe, run->machine);
        const memory::Replay taken = memory::replay(run->network, recipe, machine);
        ASSERT_EQ(walked.instants.size(), taken.instants.size()) << seed;
        for (std::size_t i = 0; i < walked.instants.size(); ++i) {
          EXPECT_EQ(walked.instants[i].live.bytes, taken.instants[i].live.bytes)
              << seed << " " << walked.instants[i].id;
        }
        ++compared;
      }
    }
    reused += memo.reused;
    EXPECT_GE(memo.reused, memo.walked) << seed;  // the second round meets nothing new
  }
  EXPECT_GT(compared, 500U);
  EXPECT_GT(reused, compared);
}

// Whoever searches weighs a network once for all batches, lengths and images.
TEST(ReplayMemo, WhatTheNetworkWeighsIsTheSameForEveryBatchLengthAndImage) {
  int compared = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    json::Errors errors;
    const auto run = read_run(json::write(drawn(seed)), presets(), errors);
    if (!run) continue;
    const memory::Parameters before = memory::weigh(run->network, run->resolved.recipe);
    for (const recipe::Field& field : recipe::field_table()) {
      if (!memory::weighs_nothing(field.pointer) || field.set == nullptr) continue;
      recipe::Recipe other = run->resolved.recipe;
      const bool flag = field.type == recipe::FieldType::flag;
      field.set(other, flag ? Json(!other.training.padded_batches) : Json(977));
      const memory::Parameters after = memory::weigh(run->network, other);
      EXPECT_EQ(after.trainable, before.trainable) << seed << field.pointer;
      EXPECT_EQ(after.weight_bytes, before.weight_bytes) << seed << field.pointer;
      EXPECT_EQ(after.loaded_bytes, before.loaded_bytes) << seed << field.pointer;
      EXPECT_EQ(after.trained_bytes, before.trained_bytes) << seed << field.pointer;
      EXPECT_EQ(after.adapter_bytes, before.adapter_bytes) << seed << field.pointer;
      EXPECT_EQ(after.largest_linear, before.largest_linear) << seed << field.pointer;
      EXPECT_EQ(after.trained.size(), before.trained.size()) << seed << field.pointer;
      ++compared;
    }
  }
  EXPECT_GT(compared, 500);
}

}  // namespace
}  // namespace plimsoll::report
