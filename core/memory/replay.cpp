#include "core/memory/replay.h"

#include <algorithm>
#include <cmath>

#include "core/memory/images.h"
#include "core/memory/pass.h"

namespace plimsoll::memory {

namespace {

using model::Part;

struct OneStep {
  Snapshot base;         // weights, adapters, optimizer states, inputs: there all the time
  double gradients = 0;  // that exist before the forward (accumulation)
  Snapshot forward, loss, backward;
  Snapshot kept;  // outputs that a training loop of one's own still holds
};

Snapshot only(Component component, double bytes) {
  Snapshot snapshot;
  snapshot[component] = bytes;
  return snapshot;
}
const Snapshot& higher(const Snapshot& a, const Snapshot& b) { return b.total() > a.total() ? b : a; }

struct Plan {
  const model::Architecture& network;
  const recipe::Recipe& recipe;
  const Machine& machine;
  Parameters parameters;

  bool has_adapter(const model::Stack& stack) const {
    for (const model::LayerGroup& group : stack.groups) {
      for (const model::Linear& linear : group.linears) {
        if (is_target(linear, stack, recipe)) return true;
      }
    }
    return false;
  }
};

PassSettings settings_for(const Plan& plan, const model::Stack& stack) {
  const recipe::Recipe& r = plan.recipe;
  PassSettings s;
  s.stack = &stack;
  s.recipe = &r;
  s.transformers = r.versions.transformers;
  s.model_type = plan.network.model_type;
  s.compute_capability = plan.machine.compute_capability;
  s.batch = static_cast<double>(r.training.per_device_train_batch_size);
  s.length = static_cast<double>(r.training.max_length);
  s.input_size = parameter_size(r);
  s.checkpointing = r.training.gradient_checkpointing;
  s.mask = r.training.padded_batches;
  s.trained = r.full();
  s.keep_kv = r.model_args.use_cache && stack.part != Part::encoder;
  return s;
}

// A frozen tower joins autograd only when something makes its input require a gradient: an adapter inside it,
// or Transformers 5's hook on every embedding under checkpointing (modeling_utils
// enable_input_require_grads).
PassSettings tower_settings(const Plan& plan, const model::Stack& stack, const ImageLoad& images) {
  PassSettings s = settings_for(plan, stack);
  const recipe::Recipe& r = plan.recipe;
  s.batch = s.batch * images.towers;
  s.length = std::max(1.0, images.tower_tokens);
  s.mask = false;
  s.keep_kv = false;
  s.trained = r.full() && !r.vision.freeze_vision_tower;
  const bool hook = r.peft.on && s.checkpointing && recipe::version_at_least(r.versions.transformers, "5");
  s.recorded = s.trained || plan.has_adapter(stack) || hook;
  s.keep_hidden_states = plan.network.model_type.rfind("llava", 0) == 0;
  return s;
}

const model::Linear* head_of(const model::Architecture& network, const model::Stack** owner) {
  for (const model::Stack& stack : network.stacks) {
    for (const model::Linear& linear : stack.linears) {
      if (linear.role == model::Role::head) {
        *owner = &stack;
        return &linear;
      }
    }
  }
  return nullptr;
}

HeadProgram make_head(const Plan& plan, const PassSettings& last, const Pass& pass) {
  const recipe::Recipe& r = plan.recipe;
  HeadProgram h;
  static const model::LayerGroup nothing;
  h.layer = make_program(last, last.stack->groups.empty() ? nothing : last.stack->groups.back());
  if (!last.stack->norms.empty()) h.final_norm = &last.stack->norms.back();
  const model::Stack* owner = last.stack;
  if (const model::Linear* head = head_of(plan.network, &owner)) {
    h.head = specify(*head, *owner, r);
    h.head.trainable = h.head.trainable || is_saved_in_full(head->path, r);
  } else if (plan.network.tied_head) {
    h.head.in = static_cast<double>(last.stack->hidden);
    h.head.out = static_cast<double>(plan.network.vocab_size);
    h.head.size = parameter_size(r);
    h.head.trainable = r.full();
  }
  h.stock = stock_loss(r.stack, r.versions.transformers, plan.network.model_type);
  h.kernel = r.training.loss_kernel;
  h.outputs_to_fp32 = r.autocast() && r.stack != "loop";
  h.keep_outputs = r.training.keep_outputs;
  h.softcap = plan.network.logit_softcap;
  h.input_size = pass.output_size;
  h.accumulating = r.gradients_outlive_step();
  h.kv_bytes = pass.kv_bytes;
  return h;
}

double input_bytes(const Plan& plan, const ImageLoad& images) {
  const recipe::Recipe& r = plan.recipe;
  const auto batch = static_cast<double>(r.training.per_device_train_batch_size);
  const auto length = static_cast<double>(r.training.max_length);
  // Trainer.get_batch_samples (4.46 on) puts all micro-batches of a step on the device at once.
  const double batches = recipe::version_at_least(r.versions.transformers, "4.46")
                             ? static_cast<double>(r.training.gradient_accumulation_steps)
                             : 1;
  const double ids = 3 * 8 * batch * length;
  double mask = 0;
  if (r.model_args.attn_implementation == "eager") {
    mask = batch * length * length * parameter_size(r);
  } else if (r.training.padded_batches && r.model_args.attn_implementation == "sdpa") {
    mask = batch * length * length *
           (recipe::version_at_least(r.versions.transformers, "5") ? 1 : parameter_size(r));
  }
  const model::Stack& text = plan.network.stacks.front();
  const double head = text.groups.empty() ? 0 : static_cast<double>(text.groups.front().head_dim);
  return ids * batches + mask + 2 * length * head * parameter_size(r) + images.pixel_bytes * batch * batches;
}

// Stacks in the order of the forward pass: what the others read comes first.
std::vector<const model::Stack*> forward_order(const model::Architecture& network) {
  std::vector<const model::Stack*> order;
  for (Part part : {Part::audio, Part::vision, Part::projector, Part::encoder, Part::decoder, Part::text}) {
    for (const model::Stack& stack : network.stacks) {
      if (stack.part == part) order.push_back(&stack);
    }
  }
  return order;
}

void walk(const Plan& plan, const ImageLoad& images, OneStep& step, Replay& result) {
  std::vector<std::pair<PassSettings, Pass>> passes;
  Snapshot retained;
  double cached = 0, gradients_after = 0;
  for (const model::Stack* stack : forward_order(plan.network)) {
    const bool tower =
        stack->part == Part::vision || stack->part == Part::projector || stack->part == Part::audio;
    if (tower && images.tower_tokens == 0) continue;
    if (tower && stack->groups.empty()) continue;
    PassSettings settings = tower ? tower_settings(plan, *stack, images) : settings_for(plan, *stack);
    settings.cross_length = images.cross_tokens > 0 ? images.cross_tokens : settings.length;
    passes.emplace_back(settings, replay_pass(settings));
    const Pass& pass = passes.back().second;
    step.forward = higher(step.forward, retained + only(Component::autocast, cached) +
                                            only(Component::autocast, pass.cached) + pass.forward_peak);
    retained = retained + pass.retained;
    cached += pass.cached;
  }
  const HeadProgram program = make_head(plan, passes.back().first, passes.back().second);
  const HeadReplay head = replay_head(program);
  result.attention = passes.back().second.attention;
  step.forward = higher(step.forward, retained + only(Component::autocast, cached) + head.forward_peak);
  step.loss = retained + head.backward_peak;
  step.kept = head.kept;
  retained = retained + head.kept;
  const bool accumulating = plan.recipe.gradients_outlive_step();
  gradients_after = accumulating ? 0 : head.weight_gradients;
  for (auto at = passes.rbegin(); at != passes.rend(); ++at) {
    const Pass& pass = at->second;
    if (!at->first.recorded) continue;
    Snapshot others = retained;
    for (std::size_t i = 0; i < component_count; ++i) others.bytes[i] -= pass.retained.bytes[i];
    step.backward =
        higher(step.backward, others + only(Component::gradients, gradients_after) + pass.backward_peak);
    retained = others;
    if (!accumulating) gradients_after += pass.weight_gradients;
  }
}

// Embeddings come last: their dense gradient meets that of a tied head.
Snapshot embedding_gradient(const Plan& plan) {
  double largest = 0;
  if (!plan.recipe.full()) return {};
  for (const model::Stack& stack : plan.network.stacks) {
    for (const model::Table& table : stack.tables) {
      if (!table.trained) continue;
      const double bytes =
          static_cast<double>(table.rows) * static_cast<double>(table.width) * parameter_size(plan.recipe);
      largest = std::max(largest, bytes);
    }
  }
  const bool meets_another = plan.network.tied_head || plan.recipe.gradients_outlive_step();
  return only(Component::transient, meets_another ? largest : 0);
}

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

Replay replay(const model::Architecture& network, const recipe::Recipe& recipe, const Machine& machine) {
  Replay result;
  Plan plan{network, recipe, machine, weigh(network, recipe)};
  const Parameters& p = plan.parameters;
  result.optimizer_bytes = optimizer_state_bytes(p, recipe.training.optim, &result.paged_bytes);
  result.host_bytes = host_bytes(plan, result.paged_bytes);
  const ImageLoad images = image_load(network, recipe);
  const double workspace = 2 * machine.workspace_bytes;

  OneStep step;
  step.base[Component::weights] = p.weight_bytes;
  step.base[Component::adapters] = p.adapter_bytes;
  step.base[Component::optimizer] = result.optimizer_bytes;
  step.base[Component::inputs] = input_bytes(plan, images);
  step.base[Component::workspace] = workspace;
  if (recipe.gradients_outlive_step()) step.gradients = p.trained_bytes;
  walk(plan, images, step, result);

  const Snapshot before = step.base + only(Component::gradients, step.gradients);
  Snapshot at_step = step.base + only(Component::gradients, p.trained_bytes);
  at_step[Component::inputs] = 0;
  at_step = at_step + step.kept;
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
  add("forward", before + step.forward, "all layers and the head have run, the loss is known");
  add("loss", before + step.loss, "the loss goes backward: the logits and their gradients");
  add("backward", higher(before + step.backward, embedding), "the layers go backward, one after another");
  add("optimizer_step_first", stepping, "the first step: the states are made");
  add("optimizer_step", stepping, "every later step");
  for (std::size_t i = 0; i < result.instants.size(); ++i) {
    if (result.instants[i].live.total() > result.instants[result.peak].live.total()) result.peak = i;
  }
  if (result.instants[result.peak].id == "optimizer_step_first") ++result.peak;
  result.dynamic_bytes =
      result.instants[result.peak].live.total() - p.weight_bytes - p.adapter_bytes - result.optimizer_bytes;
  result.parameters = plan.parameters;
  return result;
}

}  // namespace plimsoll::memory
