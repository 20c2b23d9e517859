#include "core/advice/fixes/fixes.h"
#include "core/recipe/strategies.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> sync_each_batch_levels(const FixContext& s) {
  const recipe::Recipe& r = s.recipe;
  const recipe::Training& t = r.training;
  const bool accumulates = t.gradient_accumulation_steps * t.per_device_train_batch_size > 1;
  if (!is_fsdp(strategy_of(r)) || r.parallel.num_gpus < 2 || !accumulates || r.parallel.sync_each_batch)
    return {};
  recipe::Recipe synced = r;
  synced.parallel.sync_each_batch = true;
  if (!synced.syncs_each_batch()) return {};
  return {{{{"/parallel/sync_each_batch", true}}, quality::none}};
}

constexpr Setting sync_each_batch_settings[] = {
    {"hf trl",
     "TrainingArguments(accelerator_config={\"gradient_accumulation_kwargs\": {\"sync_each_batch\": True}})"},
    {"axolotl llamafactory", "accelerator_config: {gradient_accumulation_kwargs: {sync_each_batch: true}}"},
    {"ms-swift", "--accelerator_config '{\"gradient_accumulation_kwargs\": {\"sync_each_batch\": true}}'"},
};

}  // namespace

const Fix sync_each_batch = {
    .id = "sync_each_batch",
    .title = "Gradients reduced after every micro-batch",
    .slot = "gradient_sync",
    .effort = "one setting",
    .why =
        "Each GPU keeps its share of the gradients instead of all of them until the last micro-batch; the "
        "cards send more.",
    .evidence = "The same gradients, added up in another order.",
    .source = "huggingface/accelerate accelerate/utils/dataclasses.py GradientAccumulationPlugin",
    .levels = sync_each_batch_levels,
    .settings = sync_each_batch_settings,
};

}  // namespace plimsoll::advice
