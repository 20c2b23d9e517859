#include "core/run/several_cards.h"

#include <algorithm>

#include "core/recipe/locks.h"
#include "core/recipe/stacks.h"
#include "core/recipe/strategies.h"
#include "core/time/step.h"

namespace plimsoll::run {

std::vector<std::string> strategies_for(const Run& run, uint64_t cards) {
  const recipe::Recipe& r = run.resolved.recipe;
  const recipe::Parallel& p = r.parallel;
  if (cards == p.num_gpus) return {p.strategy};
  if (cards == 1) return {"none"};
  const recipe::StackTraits& stack = recipe::stack_traits(r.stack);
  const bool alone = stack.one_process || (r.quantized() && !stack.shards_quantised);
  if (alone || !r.model_args.device_map.empty()) return {};
  if (!is_plain(strategy_of(r))) return {p.strategy};
  if (stack.several_gpus != "ddp") return {std::string(stack.several_gpus)};
  // A base in few bits is shared out by FSDP (answerdotai/fsdp_qlora), everything else by ZeRO.
  if (r.quantized()) return {"ddp", "fsdp"};
  return {"ddp", "zero2", "zero3"};
}

std::optional<recipe::Values> changes_for_cards(const Run& run, uint64_t cards, const std::string& strategy,
                                                uint64_t batch) {
  const recipe::Recipe& r = run.resolved.recipe;
  const uint64_t now = r.training.per_device_train_batch_size;
  const uint64_t share = r.parallel.sequence_parallel_size, step = r.effective_batch() * share;
  if (cards % share != 0 || step % cards != 0) return std::nullopt;
  const uint64_t each = step / cards;
  batch = std::min(batch, each);
  while (each % batch != 0) --batch;
  recipe::Values changes;
  if (cards != r.parallel.num_gpus) changes["/parallel/num_gpus"] = cards;
  if (strategy != r.parallel.strategy) changes["/parallel/strategy"] = strategy;
  if (batch != now) changes["/training/per_device_train_batch_size"] = batch;
  if (each / batch != r.training.gradient_accumulation_steps) {
    changes["/training/gradient_accumulation_steps"] = each / batch;
  }
  if (recipe::moves_locked(changes, r.locks)) return std::nullopt;
  return changes;
}

double efficiency_of(const Run& run, const recipe::Recipe& recipe, const hardware::Gpu& gpu) {
  recipe::Recipe alone = recipe;
  const uint64_t cards = recipe.parallel.num_gpus;
  alone.parallel.num_gpus = alone.parallel.sequence_parallel_size = 1;
  alone.parallel.strategy = "none";
  alone.training.gradient_accumulation_steps =
      recipe.effective_batch() / alone.training.per_device_train_batch_size;
  const double whole = time::step_time(time::work_of(run.network, alone), alone, gpu).seconds;
  const double shared = time::step_time(time::work_of(run.network, recipe), recipe, gpu).seconds;
  return shared > 0 ? whole / (static_cast<double>(cards) * shared) : 0;
}

}  // namespace plimsoll::run
