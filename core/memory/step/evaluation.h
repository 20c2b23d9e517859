// Evaluation between the steps: a forward pass with a batch size of its own, and the logits that are
// collected for compute_metrics.
//
//     Evaluation eval = replay_evaluation(plan);
//     eval.highest.total();       // beside weights and optimizer states: gradients are gone by then
//
// Source: huggingface/transformers trainer.py evaluation_loop, prediction_step; trainer_pt_utils.py
// nested_concat, EvalLoopContainer.
#pragma once

#include "core/memory/step/step.h"

namespace plimsoll::memory {

struct Evaluation {
  Snapshot highest;
  double host_bytes = 0;  ///< logits that were moved to RAM
  double batches = 0;     ///< whose logits are on the GPU together
};

/// Only of a recipe that evaluates.
Evaluation replay_evaluation(const Plan& plan);
/// Whether a loss of this run is cut into as many chunks as its tokens ask Unsloth for: more of them may take less.
bool unsloth_chunks_by_size(const recipe::Recipe& recipe);
/// The recipe by which a batch of the evaluation is computed: with its own batch, packing and loss kernel.
recipe::Recipe evaluation_recipe(const recipe::Recipe& recipe);

/// The highest of one batch, and what becomes of the logits of all batches: the two parts of the above. The
/// first depends on the recipe's per_device_eval_batch_size alone among the settings of evaluation.
Snapshot evaluation_pass(const Plan& plan);
Evaluation collect_evaluation(const Plan& plan, const Snapshot& pass);

}  // namespace plimsoll::memory
