#include "core/memory/replay.h"

#include <algorithm>
#include <cmath>

#include "core/memory/script.h"
#include "core/memory/step.h"

namespace plimsoll::memory {

namespace {

double quantise_transient(const Plan& plan) {
  if (!plan.recipe.quantized()) return 0;
  const double n = plan.parameters.largest_linear;
  return n * dtype_size(plan.recipe.model_args.dtype) + 4 * n / 64;
}

// RAM that this run takes at least, Python and its libraries not counted: weights on their way to the GPU,
// and states in managed memory. Transformers 4 without a device map builds the whole model in RAM first.
double host_bytes(const Plan& plan, double paged) {
  const recipe::Recipe& r = plan.recipe;
  const bool whole = !r.quantized() && r.model_args.device_map.empty() &&
                     !recipe::version_at_least(r.versions.transformers, "5");
  const double staged =
      whole ? plan.parameters.loaded_bytes : plan.parameters.largest_linear * dtype_size(r.model_args.dtype);
  return staged + paged;
}

}  // namespace

Replay replay(const model::Architecture& network, const recipe::Recipe& recipe, const Machine& machine,
              Script* script) {
  Replay result;
  const Plan plan{network, recipe, machine, weigh(network, recipe), image_load(network, recipe)};
  const Parameters& p = plan.parameters;
  result.optimizer_bytes = optimizer_state_bytes(p, recipe.training.optim, &result.paged_bytes);
  result.host_bytes = host_bytes(plan, result.paged_bytes);
  const double workspace = 2 * machine.workspace_bytes;

  const OneStep one = replay_step(plan, script);
  result.attention = one.attention;
  Snapshot base;
  base[Component::weights] = p.weight_bytes;
  base[Component::adapters] = p.adapter_bytes;
  base[Component::optimizer] = result.optimizer_bytes;
  base[Component::inputs] = input_bytes(plan);
  base[Component::workspace] = workspace;

  const Snapshot before =
      base + only(Component::gradients, recipe.gradients_outlive_step() ? p.trained_bytes : 0);
  Snapshot at_step = base + only(Component::gradients, p.trained_bytes);
  at_step[Component::inputs] = 0;
  at_step = at_step + one.kept;
  Snapshot stepping = at_step;
  stepping[Component::transient] += optimizer_temporary_bytes(p, recipe.training.optim);
  const Snapshot embedding = at_step + embedding_gradient(plan);

  const auto add = [&result](const char* id, const Snapshot& live, const char* what) {
    result.instants.push_back({id, live, what});
  };
  add("load", only(Component::weights, p.loaded_bytes) + only(Component::transient, quantise_transient(plan)),
      "the weights arrive, one tensor after another");
  if (recipe.quantization.prepare_for_kbit_training || recipe.peft.on) {
    add("prepare", only(Component::weights, p.weight_bytes) + only(Component::adapters, p.adapter_bytes),
        "upcasts are done and adapters are added");
  }
  add("forward", before + one.forward, "all layers and the head have run, the loss is known");
  add("loss", before + one.loss, "the loss goes backward: the logits and their gradients");
  add("backward", higher(before + one.backward, embedding), "the layers go backward, one after another");
  add("optimizer_step_first", stepping, "the first step: the states are made");
  add("optimizer_step", stepping, "every later step");
  for (std::size_t i = 0; i < result.instants.size(); ++i) {
    if (result.instants[i].live.total() > result.instants[result.peak].live.total()) result.peak = i;
  }
  if (result.instants[result.peak].id == "optimizer_step_first") ++result.peak;
  result.dynamic_bytes =
      result.instants[result.peak].live.total() - p.weight_bytes - p.adapter_bytes - result.optimizer_bytes;
  result.parameters = plan.parameters;
  if (script != nullptr) {
    script->base = base;
    script->loaded = p.loaded_bytes;
    script->weights = resident_weights(network, recipe);
    script->trained_tensors = trained_tensors(p);
    script->optimizer_states = state_tensors(p, recipe.training.optim);
    script->quantising = quantise_transient(plan);
    script->trained = p.trained_bytes;
    script->optimizer_working = optimizer_temporary_bytes(p, recipe.training.optim);
    script->embedding_gradient = embedding_gradient(plan).total();
    script->gradients_outlive_step = recipe.gradients_outlive_step();
    script->accumulates = recipe.training.gradient_accumulation_steps > 1;
  }
  return result;
}

}  // namespace plimsoll::memory
