// A network counted once for many recipes: what plans lean on.
#include "core/recipe/fields.h"
#include "core/run/run.h"
#include "tests/drawn/checks.h"

namespace plimsoll::drawn {

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
