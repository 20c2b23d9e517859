// What a task adds to the step of its policy: frozen models, passes without a graph, generated completions, a
// value network.
//
//     TaskParts parts = task_parts(plan);
//     parts.resident[Component::frozen_models];     // a copy of the policy for DPO in full fine-tuning
//     parts.score.total();  // the reference's forward pass, beside what is there all the time
//
// Sources by function: huggingface/trl trainer/dpo_trainer.py, kto_trainer.py, grpo_trainer.py,
// ppo_trainer.py.
#pragma once

#include <optional>

#include "core/memory/step/step.h"

namespace plimsoll::memory {

/// A network that is trained beside the policy (PPO's value function).
struct SecondNetwork {
  Parameters parameters;
  NetworkRun run;
};

struct TaskParts {
  Snapshot resident;  ///< there all the time: frozen models, copies of the adapters, an engine that is awake
  Snapshot score;     ///< highest of the passes without a graph
  bool scores = false;
  bool score_beside_graph = false;     ///< while the policy's graph waits for its backward
  bool score_before_training = false;  ///< the data set is scored before there is an optimizer
  Snapshot generate;                   ///< highest while completions are written
  bool generates = false;
  double outside = 0;  ///< held on the device outside PyTorch's count
  std::optional<SecondNetwork> value;
};
/// Without its passes.
TaskParts task_parts(const Plan& plan);
/// `computing`: the recipe with the types that the layers of a rank compute in. DeepSpeed casts the module, and
/// FSDP gathers in 16 bits, so that autocast finds nothing to cast.
void add_passes(const Plan& plan, const recipe::Recipe& computing, TaskParts& parts);

}  // namespace plimsoll::memory
