#include "core/memory/replay.h"

#include <algorithm>
#include <cmath>

#include "core/memory/allocator.h"
#include "core/memory/evaluation.h"
#include "core/memory/pipeline.h"
#include "core/memory/script.h"
#include "core/memory/task_parts.h"
#include "core/recipe/optimizers.h"

namespace plimsoll::memory {

namespace {

constexpr uint64_t most_spread = 64;  // machines have no more GPUs than that

double quantise_transient(const Plan& plan) {
  if (!plan.recipe.quantized()) return 0;
  const double n = plan.parameters.largest_linear;
  return n * dtype_size(plan.recipe.model_args.dtype) + 4 * n / 64;
}

// RAM that this run takes at least, Python and its libraries not counted: weights on their way to the GPU,
// and states in managed memory. Transformers 4 without a device map builds the whole model in RAM first.
double host_bytes(const Plan& plan, const Sharding& rank) {
  const recipe::Recipe& r = plan.recipe;
  const bool whole = !r.quantized() && r.model_args.device_map.empty() &&
                     !recipe::version_at_least(r.versions.transformers, "5");
  const double staged =
      whole ? plan.parameters.loaded_bytes : plan.parameters.largest_linear * dtype_size(r.model_args.dtype);
  // Every process loads its own copy, but for strategies that share the parameters out: those read them once.
  const bool each = rank.strategy == Strategy::ddp || rank.strategy == Strategy::zero0 ||
                    rank.strategy == Strategy::zero1 || rank.strategy == Strategy::zero2;
  return staged * (each ? rank.ranks : 1) + rank.paged * rank.ranks + rank.host;
}

// Unsloth unpacks every 4-bit weight of the forward into one buffer, as large as the largest, and its scales
// into another; they stay. unsloth/kernels/utils.py fast_dequantize(use_global_buffer=True).
double unpacking_buffers(const Plan& plan) {
  const recipe::Recipe& r = plan.recipe;
  if (r.model_args.implementation != "unsloth" || !r.quantization.load_in_4bit || !r.training.fused_lora)
    return 0;
  return plan.parameters.largest_quantised * (2 + 4.0 / 64);
}

// The embedding's gradient is the last to be made; FSDP then joins it with that of the head in one flat
// tensor.
Snapshot last_of_backward(const Plan& plan, const Sharding& rank, const Snapshot& at_step) {
  Snapshot live = at_step + embedding_gradient(plan);
  live[Component::gradients] += rank.root_gradients * (1 - rank.gradient_share);
  live[Component::buckets] += rank.root_gradients + rank.backward_buckets;
  live[Component::gathered] += rank.root;
  return live;
}

// A second network runs forward first and backward last; each waits while the other is at work. Its outputs
// go when both have run (trl trainer/ppo_trainer.py PolicyAndValueWrapper.forward), but for a loop that keeps
// those of every network.
OneStep both(const OneStep& policy, const OneStep& value) {
  OneStep step = policy;
  step.forward = higher(value.forward, value.waiting + policy.forward);
  step.loss = value.held + policy.loss;
  const Snapshot left = policy.kept + only(Component::gradients, policy.gradients);
  step.backward = higher(value.held + policy.backward, higher(left + value.loss, left + value.backward));
  step.waiting = policy.waiting + value.waiting;
  step.kept = policy.kept + value.kept;
  return step;
}

void join(Parameters& policy, const Parameters& value) {
  policy.weight_bytes += value.weight_bytes;
  policy.loaded_bytes += value.loaded_bytes;
  policy.adapter_bytes += value.adapter_bytes;
  policy.trained_bytes += value.trained_bytes;
  policy.largest_trained = std::max(policy.largest_trained, value.largest_trained);
  policy.trained.insert(policy.trained.end(), value.trained.begin(), value.trained.end());
}

// The step of one GPU that is not taken all at once: each parameter in the backward, or on the host, where a
// copy of the parameters and of the gradients goes with the states.
void step_elsewhere(const recipe::Recipe& r, const Parameters& p, Sharding& rank) {
  if (rank.on()) return;
  if (r.training.optimizer_in_backward || r.training.optimizer_offload == "states_and_gradients")
    rank.gradients = p.largest_trained;
  rank.step = step_in_backward(r, rank.step, p.largest_trained);
  if (r.training.optimizer_offload == "none") return;
  rank.host += rank.optimizer + 2 * p.trained_bytes;
  rank.optimizer = rank.step = 0;
}

// One GPU of the run. All ranks of a strategy are alike.
Replay replay_rank(const model::Architecture& network, const recipe::Recipe& recipe, const Machine& machine,
                   Script* script) {
  Replay result;
  result.parameters = parameters_of(network, recipe, machine);
  const Plan plan = make_plan(network, recipe, machine, result.parameters);
  const TaskParts parts = task_parts(plan);
  if (parts.value) join(result.parameters, parts.value->parameters);
  const Parameters& p = result.parameters;
  result.sharding = shard(network, recipe, p);
  step_elsewhere(recipe, p, result.sharding);
  const Sharding& rank = result.sharding;
  const recipe::Recipe& seen = rank.computing ? *rank.computing : recipe;
  const Plan here{network, seen, machine, p, plan.images, rank.on() ? &rank : nullptr, plan.task, plan.rows};
  result.optimizer_bytes = rank.optimizer;
  result.paged_bytes = rank.paged;
  result.state_bytes =
      rank.on() ? optimizer_state_bytes(p, recipe.training.optim, nullptr) : rank.optimizer + rank.paged;
  result.host_bytes = host_bytes(here, rank);

  OneStep one = replay_step(here, script);
  if (parts.value) one = both(one, parts.value->step);
  // A loop of one's own also holds what the reference said: once for a pair, three times for KTO, whose
  // policy and reference score the mismatched batch as well.
  if (parts.score_beside_graph && one.kept.total() > 0) {
    Snapshot held;
    for (int i = 0; i < (plan.task->unpaired ? 3 : 1); ++i) held = held + one.kept;
    one.loss = one.loss + held;
    one.backward = one.backward + held;
    one.kept = one.kept + held;
    if (script != nullptr) script->scored = held;
  }
  result.attention = one.attention;
  result.host_bytes += one.host_bytes;
  const double share = p.weight_bytes > 0 ? rank.weights / p.weight_bytes : 1;
  Snapshot base = parts.resident;
  base[Component::frozen_models] *= std::min(1.0, share);  // sharded as the model that is trained
  base[Component::weights] = rank.weights;
  base[Component::adapters] = rank.adapters;
  base[Component::buckets] = rank.buckets;
  Snapshot prepared = base;
  prepared[Component::buckets] = 0;
  base[Component::optimizer] = rank.optimizer;
  base[Component::inputs] = input_bytes(here);
  base[Component::workspace] = 2 * machine.workspace_bytes + unpacking_buffers(here);
  base[Component::gradients] = rank.resident_gradients;

  const Snapshot sending =
      only(Component::buckets, rank.backward_buckets) + only(Component::gradients, rank.reduced);
  Snapshot at_step = base + only(Component::gradients, rank.gradients);
  at_step[Component::inputs] = 0;
  at_step = at_step + one.kept;
  Snapshot stepping = at_step;
  stepping[Component::transient] += rank.step;
  // The states come into being in the first step; a run of one step never meets them before.
  if (recipe.training.max_steps == 1) {
    base[Component::optimizer] = 0;
    at_step[Component::optimizer] = 0;
  }
  Snapshot before = base + only(Component::gathered, rank.root);
  if (recipe.gradients_outlive_step()) before[Component::gradients] += rank.accumulated;
  const Snapshot with_head = before + only(Component::gathered, rank.head);
  const Snapshot embedding = last_of_backward(here, rank, at_step);

  bool has_states = false;
  const auto add = [&result, &parts, &has_states](const char* id, const Snapshot& live, const char* what) {
    result.instants.push_back({id, live, what, parts.outside});
    result.instants.back().has_states = has_states;
  };
  add("load",
      only(Component::weights, p.loaded_bytes * std::min(1.0, share)) +
          only(Component::transient, quantise_transient(here)),
      "the weights arrive, one tensor after another");
  if (recipe.quantization.prepare_for_kbit_training || recipe.peft.on) {
    add("prepare", prepared, "upcasts are done and adapters are added");
  }
  if (parts.score_before_training) {
    add("score", prepared + parts.score, "the reference scores the data set before the training begins");
  }
  has_states = recipe.training.max_steps != 1;
  if (parts.generates) add("generate", base + parts.generate, "completions are written");
  if (parts.scores && plan.task->online) {
    add("score", with_head + parts.score, "old and reference log-probabilities, without a graph");
  }
  add("forward", with_head + one.forward, "all layers and the head have run, the loss is known");
  if (parts.score_beside_graph) {
    add("score", with_head + one.waiting + parts.score,
        "the reference scores the batch while the graph waits");
  }
  add("loss", with_head + sending + one.loss, "the loss goes backward: the logits and their gradients");
  add("backward", higher(before + sending + one.backward, embedding),
      "the layers go backward, one after another");
  result.between_steps = with_head;
  result.between_steps[Component::inputs] = batch_bytes(here);
  if (evaluates(recipe) && script == nullptr) {  // a script tells of training alone
    const Evaluation eval = replay_evaluation(here);
    add("eval", result.between_steps + eval.highest,
        "evaluation between two steps: no gradients, a batch size of its own");
    result.host_bytes += eval.host_bytes;
  }
  has_states = true;
  add("optimizer_step_first", stepping, "the first step: the states are made");
  add("optimizer_step", stepping, "every later step");
  for (std::size_t i = 0; i < result.instants.size(); ++i) {
    if (result.instants[i].live.total() > result.instants[result.peak].live.total()) result.peak = i;
  }
  if (result.instants[result.peak].id == "optimizer_step_first") ++result.peak;
  Passing passing;
  for (const Instant& instant : result.instants) {
    if (repeats(instant)) passing.add(instant.live);
  }
  result.gathered_throughout = rank.root + rank.head;
  for (Instant& instant : result.instants) {
    instant.apart = repeats(instant) ? passing.apart() : 0;
    instant.lent = lent(instant.live, result);
  }
  result.dynamic_bytes =
      result.instants[result.peak].live.total() - rank.weights - rank.adapters - rank.optimizer;
  if (script != nullptr) {
    script->base = base;
    script->base[Component::optimizer] = result.optimizer_bytes;
    script->root = rank.root;
    script->head_gathered = rank.head;
    script->gradient_share = rank.gradient_share;
    script->head_gradient_share = rank.head_gradient_share;
    script->gradient_copies = rank.gradient_copies;
    script->root_gradients = rank.root_gradients;
    script->resident_gradients = rank.resident_gradients;
    script->accumulated = rank.accumulated;
    script->backward_buckets = rank.backward_buckets;
    script->reduced = rank.reduced;
    script->keeps_boundaries = rank.keeps_boundaries;
    script->loaded = p.loaded_bytes * std::min(1.0, share);
    script->weights = resident_weights(network, recipe);
    script->trained_tensors = trained_tensors(p);
    if (recipe.training.optimizer_offload == "none")
      script->optimizer_states = state_tensors(p, recipe.training.optim);
    script->quantising = quantise_transient(here);
    script->trained = rank.gradients;
    script->optimizer_working = rank.step;
    script->embedding_gradient = embedding_gradient(here).total();
    script->gradients_outlive_step = recipe.gradients_outlive_step();
    script->accumulates = recipe.training.gradient_accumulation_steps > 1;
  }
  return result;
}

}  // namespace

bool repeats(const Instant& instant) { return instant.id != "load" && instant.id != "prepare"; }

double lent(const Snapshot& live, const Replay& run) {
  return std::max(0.0, live[Component::gathered] - run.gathered_throughout);
}

FirstStep first_step(const Replay& run, const recipe::Recipe& recipe) {
  FirstStep highest;
  for (const Instant& instant : run.instants) {
    if (instant.id == "eval" || instant.id == "optimizer_step") continue;
    double bytes = instant.live.total();
    const bool makes_states = instant.id == "optimizer_step_first" ||
                              (instant.id == "backward" && recipe.training.optimizer_in_backward);
    if (!makes_states) bytes -= instant.live[Component::optimizer];
    if (bytes > highest.allocated) highest = {instant.id, bytes};
  }
  if (highest.instant == "optimizer_step_first") highest.instant = "optimizer_step";
  return highest;
}

Replay replay(const model::Architecture& network, const recipe::Recipe& recipe, const Machine& machine,
              Script* script) {
  const uint64_t gpus = std::min<uint64_t>(recipe.parallel.num_gpus, most_spread);
  if (strategy_of(recipe) != Strategy::none || gpus <= 1)
    return replay_rank(network, recipe, machine, script);
  Replay fullest;
  std::vector<double> highest;
  for (const model::Architecture& part : spread(network, recipe, gpus)) {
    Replay one = replay_rank(part, recipe, machine, nullptr);
    const double total = one.instants[one.peak].live.total();
    const bool higher = highest.empty() || total > *std::max_element(highest.begin(), highest.end());
    highest.push_back(total);
    if (!higher) continue;
    if (script != nullptr) *script = {};
    fullest = script == nullptr ? std::move(one) : replay_rank(part, recipe, machine, script);
  }
  fullest.spread = std::move(highest);
  fullest.parameters = weigh(network, recipe);
  fullest.state_bytes = optimizer_state_bytes(fullest.parameters, recipe.training.optim, nullptr);
  return fullest;
}

}  // namespace plimsoll::memory
