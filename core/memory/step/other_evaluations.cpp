#include "core/memory/step/other_evaluations.h"

#include "core/memory/step/evaluation.h"

namespace plimsoll::memory {

bool evaluates_apart(const recipe::Recipe& recipe) {
  return recipe.evaluates() && (recipe.parallel.num_gpus <= 1 || strategy_of(recipe) != Strategy::none);
}

OtherEvaluations::OtherEvaluations(const model::Architecture& network, const recipe::Recipe& recipe,
                                   const Machine& machine, const Replay& run)
    : recipe_(run.sharding.computing ? *run.sharding.computing : recipe),
      run_(run),
      plan_(on_rank(make_plan(network, recipe, machine, run.parameters), recipe_, run.sharding)) {}

Snapshot OtherEvaluations::live(uint64_t batch, uint64_t accumulation_steps, bool loss_only) {
  recipe_.training.per_device_eval_batch_size = batch;
  recipe_.training.eval_accumulation_steps = accumulation_steps;
  recipe_.training.prediction_loss_only = loss_only;
  const Pass* pass = nullptr;
  for (const Pass& known : passes_) {
    if (known.batch == batch) pass = &known;
  }
  if (pass == nullptr) {
    passes_.push_back({batch, evaluation_pass(plan_)});
    pass = &passes_.back();
  }
  return run_.between_steps + collect_evaluation(plan_, pass->highest).highest;
}

}  // namespace plimsoll::memory
