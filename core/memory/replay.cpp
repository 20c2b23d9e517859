#include "core/memory/replay.h"

#include <algorithm>
#include <cmath>

#include "core/memory/pipeline.h"
#include "core/memory/script.h"
#include "core/memory/step.h"

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
  const bool each =
      rank.strategy == Strategy::ddp || rank.strategy == Strategy::zero1 || rank.strategy == Strategy::zero2;
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

// The step of one GPU that is not taken all at once: each parameter in the backward, or on the host, where a
// copy of the parameters and of the gradients goes with the states.
void step_elsewhere(const recipe::Recipe& r, const Parameters& p, Sharding& rank) {
  if (rank.on()) return;
  if (r.training.optimizer_in_backward || r.training.optimizer_offload == "states_and_gradients")
    rank.gradients = p.largest_trained;
  if (r.training.optimizer_in_backward) rank.step = std::min(rank.step, 2 * p.largest_trained);
  if (r.training.optimizer_offload == "none") return;
  rank.host += rank.optimizer + 2 * p.trained_bytes;
  rank.optimizer = rank.step = 0;
}

// One GPU of the run. All ranks of a strategy are alike.
Replay replay_rank(const model::Architecture& network, const recipe::Recipe& recipe, const Machine& machine,
                   Script* script) {
  Replay result;
  result.parameters = weigh(network, recipe);
  const Parameters& p = result.parameters;
  result.sharding = shard(network, recipe, p);
  step_elsewhere(recipe, p, result.sharding);
  const Sharding& rank = result.sharding;
  const recipe::Recipe& seen = rank.computing ? *rank.computing : recipe;
  const Plan plan{network, seen, machine, p, image_load(network, recipe), rank.on() ? &rank : nullptr};
  result.optimizer_bytes = rank.optimizer;
  result.paged_bytes = rank.paged;
  result.state_bytes =
      rank.on() ? optimizer_state_bytes(p, recipe.training.optim, nullptr) : rank.optimizer + rank.paged;
  result.host_bytes = host_bytes(plan, rank);
  const double workspace = 2 * machine.workspace_bytes;

  const OneStep one = replay_step(plan, script);
  result.attention = one.attention;
  result.host_bytes += one.host_bytes;
  Snapshot base;
  base[Component::weights] = rank.weights;
  base[Component::adapters] = rank.adapters;
  base[Component::optimizer] = rank.optimizer;
  base[Component::inputs] = input_bytes(plan);
  base[Component::workspace] = workspace + unpacking_buffers(plan);
  base[Component::buckets] = rank.buckets;
  base[Component::gradients] = rank.resident_gradients;

  Snapshot before = base + only(Component::gathered, rank.root);
  if (recipe.gradients_outlive_step()) before[Component::gradients] += rank.accumulated;
  const Snapshot with_head = before + only(Component::gathered, rank.head);
  const Snapshot sending = only(Component::buckets, rank.backward_buckets);
  Snapshot at_step = base + only(Component::gradients, rank.gradients);
  at_step[Component::inputs] = 0;
  at_step = at_step + one.kept;
  Snapshot stepping = at_step;
  stepping[Component::transient] += rank.step;
  const Snapshot embedding = last_of_backward(plan, rank, at_step);

  const auto add = [&result](const char* id, const Snapshot& live, const char* what) {
    result.instants.push_back({id, live, what});
  };
  const double share = p.weight_bytes > 0 ? rank.weights / p.weight_bytes : 1;
  add("load",
      only(Component::weights, p.loaded_bytes * std::min(1.0, share)) +
          only(Component::transient, quantise_transient(plan)),
      "the weights arrive, one tensor after another");
  if (recipe.quantization.prepare_for_kbit_training || recipe.peft.on) {
    add("prepare", only(Component::weights, rank.weights) + only(Component::adapters, rank.adapters),
        "upcasts are done and adapters are added");
  }
  add("forward", with_head + one.forward, "all layers and the head have run, the loss is known");
  add("loss", with_head + sending + one.loss, "the loss goes backward: the logits and their gradients");
  add("backward", higher(before + sending + one.backward, embedding),
      "the layers go backward, one after another");
  add("optimizer_step_first", stepping, "the first step: the states are made");
  add("optimizer_step", stepping, "every later step");
  for (std::size_t i = 0; i < result.instants.size(); ++i) {
    if (result.instants[i].live.total() > result.instants[result.peak].live.total()) result.peak = i;
  }
  if (result.instants[result.peak].id == "optimizer_step_first") ++result.peak;
  result.dynamic_bytes =
      result.instants[result.peak].live.total() - rank.weights - rank.adapters - rank.optimizer;
  if (script != nullptr) {
    script->base = base;
    script->loaded = p.loaded_bytes;
    script->weights = resident_weights(network, recipe);
    script->trained_tensors = trained_tensors(p);
    if (recipe.training.optimizer_offload == "none")
      script->optimizer_states = state_tensors(p, recipe.training.optim);
    script->quantising = quantise_transient(plan);
    script->trained = rank.gradients;
    script->optimizer_working = rank.step;
    script->embedding_gradient = embedding_gradient(plan).total();
    script->gradients_outlive_step = recipe.gradients_outlive_step();
    script->accumulates = recipe.training.gradient_accumulation_steps > 1;
  }
  return result;
}

}  // namespace

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
    fullest = script == nullptr ? std::move(one) : replay_rank(part, recipe, machine, script);
  }
  fullest.spread = std::move(highest);
  fullest.parameters = weigh(network, recipe);
  fullest.state_bytes = optimizer_state_bytes(fullest.parameters, recipe.training.optim, nullptr);
  return fullest;
}

}  // namespace plimsoll::memory
