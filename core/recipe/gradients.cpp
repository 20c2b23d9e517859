// How long gradients live, and when the cards add them up.
#include "core/recipe/recipe.h"
#include "core/recipe/stacks.h"
#include "core/recipe/strategies.h"

namespace plimsoll::recipe {

bool Recipe::gradients_outlive_step() const {
  if (training.optimizer_in_backward) return false;
  return training.gradient_accumulation_steps > 1 || gradients_outlive_optimizer();
}

bool Recipe::gradients_outlive_optimizer() const {
  if (training.optimizer_in_backward || training.max_steps == 1) return false;  // there is no step after it
  return training.keep_gradients || !version_at_least(versions.torch, "2");
}

bool Recipe::syncs_each_batch() const {
  const bool ignored =
      stack_traits(stack).accelerate && version_matches(versions.transformers, ">=4.46.2,<5.2");
  return is_fsdp(strategy_of(*this)) && parallel.sync_each_batch && !ignored;
}

}  // namespace plimsoll::recipe
