// The evaluations of a replayed run, were they set otherwise: training is not replayed again.
//
//     OtherEvaluations others(network, recipe, machine, replay(network, recipe, machine));
//     others.live(2, 1, false).total();      // the instant "eval" with batches of 2, moved to RAM one by one
//
// Training knows nothing of per_device_eval_batch_size, eval_accumulation_steps and prediction_loss_only, and
// of these three a forward pass knows the first alone.
#pragma once

#include <vector>

#include "core/memory/step/replay.h"

namespace plimsoll::memory {

/// Whether evaluation can be set apart: not where device_map spreads the layers, as with other evaluations
/// another GPU may be the fullest.
bool evaluates_apart(const recipe::Recipe& recipe);

class OtherEvaluations {
 public:
  /// `run` is the replay of `recipe` and must outlive this, as `network` and `machine` must.
  OtherEvaluations(const model::Architecture& network, const recipe::Recipe& recipe, const Machine& machine,
                   const Replay& run);
  OtherEvaluations(const OtherEvaluations&) = delete;
  OtherEvaluations& operator=(const OtherEvaluations&) = delete;

  /// What is alive then, in place of the instant "eval" of the run.
  Snapshot live(uint64_t batch, uint64_t accumulation_steps, bool loss_only);

 private:
  struct Pass {
    uint64_t batch;
    Snapshot highest;
  };
  recipe::Recipe recipe_;  ///< as one GPU computes with it
  const Replay& run_;
  Plan plan_;
  std::vector<Pass> passes_;
};

}  // namespace plimsoll::memory
