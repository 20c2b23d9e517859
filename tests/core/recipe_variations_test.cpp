// A request resolved with some fields changed is the changed request resolved.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/advice/space.h"
#include "core/recipe/variations.h"
#include "core/report/run.h"
#include "tests/core/drawn_requests.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

using Moved = std::vector<std::pair<std::string, Json>>;

Moved difference(const recipe::Values& before, const recipe::Values& after) {
  Moved moved;
  for (const auto& [pointer, value] : after) {
    const auto found = before.find(pointer);
    if (found == before.end() || found->second != value) moved.emplace_back(pointer, value);
  }
  for (const auto& [pointer, value] : before) {
    if (after.count(pointer) == 0) moved.emplace_back(pointer, Json());
  }
  std::sort(moved.begin(), moved.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return moved;
}

// What a setter reads, back as JSON, through the fields that plans change.
std::string told(const recipe::Recipe& r) {
  const recipe::Training& t = r.training;
  const Json words = {r.model_args.dtype,
                      r.model_args.attn_implementation,
                      r.model_args.use_cache,
                      r.quantization.load_in_4bit,
                      r.quantization.load_in_8bit,
                      r.quantization.bnb_4bit_compute_dtype,
                      r.quantization.prepare_for_kbit_training,
                      r.quantization.upcast,
                      r.peft.on,
                      r.peft.r,
                      r.peft.lora_alpha,
                      r.peft.target_modules,
                      r.peft.adapter_dtype,
                      t.per_device_train_batch_size,
                      t.gradient_accumulation_steps,
                      t.max_length,
                      t.padded_batches,
                      t.gradient_checkpointing,
                      t.use_reentrant,
                      t.offload_checkpoints,
                      t.activation_offloading,
                      t.optim,
                      t.loss_kernel,
                      t.liger_rms_norm,
                      t.liger_swiglu,
                      t.liger_rope,
                      t.optimizer_offload,
                      r.vision.image_size,
                      r.vision.images_per_sample,
                      r.parallel.strategy,
                      r.parallel.fsdp.reduce_dtype,
                      r.parallel.zero.overlap_comm,
                      r.rl.reference_model,
                      r.hardware.cuda_alloc_conf};
  return json::write(words);
}

TEST(Variations, AChangedRequestResolvesToTheSameWhicheverWay) {
  const std::vector<std::string> tasks = {"sft", "sft", "dpo", "grpo"};
  int compared = 0, moved = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    Json request = drawn(seed);
    Dice dice(seed * 6700417);
    request["task"] = dice.one_of(tasks);
    if (dice.one_in(4))
      request["parallel"] = {{"num_gpus", 2}, {"strategy", dice.one_in(2) ? "ddp" : "zero2"}};
    json::Errors errors;
    const auto run = read_run(json::write(request), presets(), errors);
    if (!run) continue;
    const advice::Situation situation{run->network, run->resolved.recipe, run->resolved.values, run->gpu};
    const advice::Space space = advice::open_choices(situation, {});
    const recipe::Surroundings around = surroundings(*run);
    recipe::Variations variations(run->given, *run->stack, around, run->resolved);
    for (int tries = 0; tries < 8; ++tries) {
      advice::Choice choice{};
      for (std::size_t slot = 0; slot < space.slots.size(); ++slot) {
        if (dice.one_in(3)) choice[slot] = static_cast<uint8_t>(dice.draw(space.slots[slot].options.size()));
      }
      const recipe::Values changes = advice::changes_of(space, choice);
      recipe::Given given = run->given;
      for (const auto& [pointer, value] : changes) given.values[pointer] = value;
      json::Errors expected_errors, found_errors;
      const recipe::Resolved expected = recipe::resolve(given, *run->stack, around, expected_errors);
      recipe::Variation found = variations.with(changes, found_errors);
      std::sort(found.moved.begin(), found.moved.end(),
                [](const auto& a, const auto& b) { return a.first < b.first; });
      ASSERT_EQ(found.moved, difference(run->resolved.values, expected.values)) << json::write(request);
      ASSERT_EQ(found_errors.size(), expected_errors.size()) << json::write(request);
      // A pattern has been replaced by what it matches in the run that was read.
      if (run->resolved.recipe.peft.target_pattern.empty()) {
        ASSERT_EQ(told(found.recipe), told(expected.recipe)) << json::write(request);
      }
      moved += found.moved.empty() ? 0 : 1;
      ++compared;
    }
  }
  EXPECT_GT(compared, 500);
  EXPECT_GT(moved, 400);
}

}  // namespace
}  // namespace plimsoll::report
