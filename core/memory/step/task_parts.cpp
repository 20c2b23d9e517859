#include "core/memory/step/task_parts.h"

#include <algorithm>

#include "core/memory/step/engine.h"
#include "core/model/task_head.h"
#include "core/recipe/loss_kernels.h"
#include "core/recipe/stacks.h"

namespace plimsoll::memory {

namespace {

using model::Part;

// What a sleeping vLLM still holds on the device beside the CUDA context: library workspaces and engine
// structures. AgileRL/AgileRL agilerl/memory/formulas.py ENGINE_PROCESS_OVERHEAD_BYTES: measured 723 MiB on
// an A100, 687 on an L4.
constexpr double engine_overhead = 700.0 * 1048576.0;

// TRL's DPOTrainer asked for every layer's output from 0.19 to 0.28 (concatenated_forward
// output_hidden_states=True).
bool keeps_hidden_states(const Plan& plan) {
  const std::string& trl = plan.recipe.versions.trl;
  if (recipe::stack_traits(plan.recipe.stack).own_log_probs) return false;
  return plan.task->id == "dpo" && plan.recipe.training.loss_kernel != "liger" &&
         recipe::version_at_least(trl, "0.19") && !recipe::version_at_least(trl, "0.29");
}

// Frozen networks: the reference as a second model or as a copy of the adapters, and the one that gives
// rewards.
void add_frozen(const Plan& plan, TaskParts& parts) {
  const recipe::Recipe& r = plan.recipe;
  if (r.rl.reference_model == "copy")
    parts.resident[Component::frozen_models] += plan.parameters.loaded_bytes;
  if (r.rl.reference_model == "adapter_copy") {
    parts.resident[Component::frozen_models] += plan.parameters.adapter_bytes;
  }
  if (!plan.task->reward_model) return;
  // hiyouga/LLaMA-Factory src/llamafactory/train/trainer_utils.py create_reward_model: an adapter beside the policy's.
  const bool adapter = r.model_args.value_head && r.peft.on;
  parts.resident[Component::frozen_models] +=
      adapter ? plan.parameters.adapter_bytes : plan.parameters.loaded_bytes;
}

// Reference and old log-probabilities: the same forward without a graph, one micro-batch at a time.
void add_scoring(const Plan& plan, TaskParts& parts) {
  const recipe::Recipe& r = plan.recipe;
  const recipe::Task& task = *plan.task;
  const bool precomputed = recipe::scores_before_training(r);
  const bool old = recipe::reads_old_log_probs(r);
  parts.scores = precomputed || old || task.unpaired || r.rl.reference_model != "none";
  if (!parts.scores) return;
  const bool labels = recipe::loss_kernel(r.training.loss_kernel).labels_alone;  // which make_head counts
  const double scored = task.online && !labels ? static_cast<double>(r.rl.max_completion_length) + 1 : 0;
  parts.score =
      replay_without_grad(plan, plan.rows, r.row_length(),
                          {.scored = scored, .hidden_states = keeps_hidden_states(plan), .reference = !old});
  parts.score_beside_graph = (!task.online || recipe::samples_are_prompts(r)) && !precomputed;
  parts.score_before_training = precomputed;
}

double engine_share(const Plan& plan) {
  const double total = plan.machine.total_bytes;
  // With less it does not start (core/recipe/refusals.cpp vllm_share_below_weights).
  const auto parameters = static_cast<double>(model::parameter_count(plan.network));
  const double least = total > 0 ? recipe::vllm_weights(plan.recipe, parameters) : 0;
  const double share = std::max(least, engine_utilization(plan.recipe, total) * total);
  if (!recipe::stack_traits(plan.recipe.stack).vllm_shares_weights) return share;
  return std::max(0.0, share - plan.parameters.weight_bytes);
}

// What the policy reads before it writes. Shorter samples than max_length say nothing of how a prompt and its
// completion share them: a prompt may be as long as it is allowed to, up to the whole row.
double prompt_length(const recipe::Recipe& r) {
  const double allowed =
      static_cast<double>(r.training.max_length) - static_cast<double>(r.rl.max_completion_length);
  return std::max(1.0, std::min(allowed, r.longest_sample()));
}

// transformers generation/utils.py _sample: one prefill with the logits of the last token alone, then one
// token at a time while DynamicCache concatenates the new keys and values layer by layer. Each GPU writes
// whole sequences: the trainers share out the rows of a training batch alone (transformers trainer.py
// training_step, _prepare_context_parallel_inputs).
Snapshot generate_here(const Plan& plan, double rows) {
  const recipe::Recipe& r = plan.recipe;
  const double prompt = prompt_length(r);
  const double vocabulary = static_cast<double>(plan.network.vocab_size);
  const Snapshot prefill = replay_without_grad(plan, rows, prompt, {.scored = 1, .keys = true});
  Snapshot decode = replay_without_grad(plan, rows, 1, {.scored = 1, .decodes = true});
  double layers = 0;
  for (const model::LayerGroup& group : plan.network.stacks.front().groups)
    layers += static_cast<double>(group.layers);
  const double cache = cache_bytes(plan, rows);
  decode[Component::kv_cache] = cache + cache / std::max(1.0, layers);
  decode[Component::logits] +=
      3 * 4 * rows * vocabulary;  // fp32 scores, softmax, and the sorted or filtered copy
  return higher(prefill, decode);
}

void add_generation(const Plan& plan, TaskParts& parts) {
  const recipe::Recipe& r = plan.recipe;
  if (!plan.task->online) return;
  const double rows = recipe::rows_generated(r);
  parts.generates = true;
  if (!r.rl.use_vllm) {
    parts.generate = generate_here(plan, rows);
    return;
  }
  if (r.rl.vllm_mode != "colocate") return;
  parts.outside = engine_overhead;
  (r.rl.vllm_enable_sleep_mode ? parts.generate : parts.resident)[Component::engine] = engine_share(plan);
}

// TRL's PPO trains a network with one output beside the policy, all of it even when the policy has adapters;
// a quantised one can only be trained through adapters of its own.
void add_value_network(const Plan& plan, TaskParts& parts) {
  if (!plan.task->value_model || plan.recipe.model_args.value_head) return;
  const model::Architecture network = model::with_classification_head(plan.network, 1);
  recipe::Recipe recipe = plan.recipe;
  recipe.task = "reward";
  if (!recipe.quantized()) recipe.peft = recipe::Peft();
  Parameters parameters = parameters_of(network, recipe, plan.machine);
  Plan second = make_plan(network, recipe, plan.machine, parameters);
  second.rows = plan.rows;
  NetworkRun run = replay_network(second, false);
  parts.value = SecondNetwork{std::move(parameters), std::move(run)};
}

}  // namespace

TaskParts task_parts(const Plan& plan) {
  TaskParts parts;
  if (!plan.task->has_rl()) return parts;
  add_frozen(plan, parts);
  add_value_network(plan, parts);
  return parts;
}

void add_passes(const Plan& plan, const recipe::Recipe& computing, TaskParts& parts) {
  if (!plan.task->has_rl()) return;
  Machine machine = plan.machine;
  if (&computing != &plan.recipe) machine.known_parameters = nullptr;  // they are in other types
  const Plan typed{plan.network, computing, machine,   plan.parameters,
                   plan.images,  nullptr,   plan.task, plan.rows};
  add_scoring(typed, parts);
  add_generation(typed, parts);
}

}  // namespace plimsoll::memory
