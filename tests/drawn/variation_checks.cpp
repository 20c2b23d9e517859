// A request resolved with some fields changed, and a network counted once for many recipes: what plans lean
// on.
#include <algorithm>

#include "core/advice/basis.h"
#include "core/advice/space.h"
#include "core/recipe/fields.h"
#include "core/recipe/variations.h"
#include "core/run/run.h"
#include "tests/drawn/checks.h"

namespace plimsoll::drawn {

namespace {

using Moved = std::vector<std::pair<std::string, Json>>;

Moved sorted(Moved moved) {
  std::sort(moved.begin(), moved.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return moved;
}

Moved difference(const recipe::Values& before, const recipe::Values& after) {
  Moved moved;
  for (const auto& [pointer, value] : after) {
    const auto found = before.find(pointer);
    if (found == before.end() || found->second != value) moved.emplace_back(pointer, value);
  }
  for (const auto& [pointer, value] : before) {
    if (after.count(pointer) == 0) moved.emplace_back(pointer, Json());
  }
  return sorted(std::move(moved));
}

// The fields of a recipe that plans change.
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
                      t.eval_loss_kernel,
                      t.eval_packing,
                      t.liger_rms_norm,
                      t.liger_swiglu,
                      t.liger_rope,
                      t.optimizer_offload,
                      r.vision.image_size,
                      r.vision.image_height,
                      r.vision.max_tiles,
                      r.vision.images_per_sample,
                      r.parallel.strategy,
                      r.parallel.fsdp.reduce_dtype,
                      r.parallel.zero.overlap_comm,
                      r.rl.reference_model,
                      r.hardware.cuda_alloc_conf};
  return json::write(words);
}

advice::Choice drawn_choice(const advice::Space& space, Dice& dice) {
  advice::Choice choice{};
  for (std::size_t slot = 0; slot < space.slots.size(); ++slot) {
    if (dice.one_in(3)) choice[slot] = static_cast<uint8_t>(dice.draw(space.slots[slot].options.size()));
  }
  return choice;
}

}  // namespace

void variations_resolve_as_changed_requests(const Draw& draw) {
  json::Errors errors;
  const auto run = run::read_run(draw.text, presets(), errors);
  ASSERT_TRUE(run) << said(draw);
  Dice dice(draw.seed * 6700417);
  const advice::FixContext situation = advice::situation_of(*run);
  const advice::Space space = advice::open_choices(situation, {});
  const recipe::ModelTraits traits = model_traits(*run);
  recipe::Variations variations(run->given, *run->stack, traits, run->resolved);
  for (int tries = 0; tries < 8; ++tries) {
    const recipe::Values changes = advice::changes_of(space, drawn_choice(space, dice));
    recipe::Request given = run->given;
    for (const auto& [pointer, value] : changes) given.values[pointer] = value;
    json::Errors expected_errors, found_errors;
    const recipe::Resolved expected = recipe::resolve(given, *run->stack, traits, expected_errors);
    const recipe::Variation found = variations.with(changes, found_errors);
    ASSERT_EQ(sorted(found.moved), difference(run->resolved.values, expected.values)) << said(draw);
    ASSERT_EQ(found_errors.size(), expected_errors.size()) << said(draw);
    // A pattern has been replaced by what it matches in the run that was read, and all linears by their
    // names.
    const recipe::Peft& peft = run->resolved.recipe.peft;
    if (peft.target_pattern.empty() && peft.all_linear != "names") {
      ASSERT_EQ(told(found.recipe), told(expected.recipe)) << said(draw);
    }
  }
}

// Whoever searches weighs a network once for all batches, lengths and images.
void batches_and_lengths_weigh_nothing(const Draw& draw) {
  json::Errors errors;
  const auto run = run::read_run(draw.text, presets(), errors);
  ASSERT_TRUE(run) << said(draw);
  const memory::Parameters before = memory::count_parameters(run->network, run->resolved.recipe);
  for (const recipe::Field& field : recipe::field_table()) {
    if (!memory::weighs_nothing(field.pointer) || field.set == nullptr) continue;
    recipe::Recipe other = run->resolved.recipe;
    const bool flag = field.type == recipe::FieldType::flag;
    field.set(other, flag ? Json(!other.training.padded_batches) : Json(977));
    const memory::Parameters after = memory::count_parameters(run->network, other);
    EXPECT_EQ(after.trainable, before.trainable) << field.pointer << said(draw);
    EXPECT_EQ(after.weight_bytes, before.weight_bytes) << field.pointer << said(draw);
    EXPECT_EQ(after.loaded_bytes, before.loaded_bytes) << field.pointer << said(draw);
    EXPECT_EQ(after.trained_bytes, before.trained_bytes) << field.pointer << said(draw);
    EXPECT_EQ(after.adapter_bytes, before.adapter_bytes) << field.pointer << said(draw);
    EXPECT_EQ(after.largest_linear, before.largest_linear) << field.pointer << said(draw);
    EXPECT_EQ(after.trained.size(), before.trained.size()) << field.pointer << said(draw);
  }
}

}  // namespace plimsoll::drawn
