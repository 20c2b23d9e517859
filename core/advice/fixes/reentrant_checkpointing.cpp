#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

// Of an 8-bit base alone: bitsandbytes holds what its product reads where the hooks of the other kind do not reach.
std::vector<Level> reentrant_checkpointing_levels(const FixContext& s) {
  const recipe::Training& t = s.recipe.training;
  if (!t.gradient_checkpointing || t.use_reentrant || !s.recipe.quantization.load_in_8bit) return {};
  return {{{{"/training/gradient_checkpointing_kwargs/use_reentrant", true}}, quality::none}};
}

constexpr Setting reentrant_checkpointing_settings[] = {
    {"hf trl", "TrainingArguments(gradient_checkpointing_kwargs={\"use_reentrant\": True})"},
    {"axolotl", "gradient_checkpointing_kwargs: {use_reentrant: true}"},
    {"llamafactory", "use_reentrant_gc: true"},
    {"ms-swift", "--gradient_checkpointing_kwargs '{\"use_reentrant\": true}'"},
    {"loop agilerl colossalai",
     "model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={\"use_reentrant\": True})"},
};

}  // namespace

const Fix reentrant_checkpointing = {
    .id = "reentrant_checkpointing",
    .title = "Checkpointing with reentrance",
    .slot = "checkpointing",
    .effort = "one setting",
    .why =
        "An 8-bit base keeps what each of its layers reads, unless the first forward runs without a graph.",
    .evidence = "The same numbers.",
    .source = "bitsandbytes-foundation/bitsandbytes autograd/_functions.py MatMul8bitLt.forward, ctx.tensors",
    .levels = reentrant_checkpointing_levels,
    .settings = reentrant_checkpointing_settings,
};

}  // namespace plimsoll::advice
