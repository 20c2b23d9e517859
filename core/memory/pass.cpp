#include "core/memory/pass.h"

#include <algorithm>

namespace plimsoll::memory {

namespace {

using model::Role;

AttentionConditions conditions(const PassSettings& s, const model::LayerGroup& group) {
  AttentionConditions c;
  c.implementation = s.recipe->model_args.attn_implementation;
  c.transformers = s.transformers;
  c.model_type = s.model_type;
  c.compute_capability = s.compute_capability;
  c.sixteen_bit = s.recipe->autocast() || s.input_size == 2;
  c.mask = s.mask;
  c.grouped = group.kv_heads > 0 && group.kv_heads < group.heads;
  c.one_kv_head = group.kv_heads == 1;
  c.head_dim = static_cast<double>(group.head_dim);
  return c;
}

Snapshot times(Snapshot snapshot, double factor) {
  for (double& bytes : snapshot.bytes) bytes *= factor;
  return snapshot;
}

Snapshot only(Component component, double bytes) {
  Snapshot snapshot;
  snapshot[component] = bytes;
  return snapshot;
}

void raise(Snapshot& highest, const Snapshot& candidate) {
  if (candidate.total() > highest.total()) highest = candidate;
}

// Groups of equal layers as they are walked; the first layer may meet a narrower stream than the others.
struct Run {
  LayerReplay replay;
  double layers = 0;
};

std::vector<Run> replay_groups(const PassSettings& s, Pass& pass) {
  std::vector<Run> runs;
  int stream = s.input_size;
  const bool reentrant = s.recipe->training.use_reentrant;
  for (const model::LayerGroup& group : s.stack->groups) {
    const LayerProgram program = make_program(s, group);
    if (pass.attention.empty()) pass.attention = program.attention.why;
    LayerReplayOptions options;
    options.keep_output = s.checkpointing && reentrant;
    options.stop_early = s.checkpointing && !reentrant;
    options.accumulating = s.recipe->gradients_outlive_step();
    double left = static_cast<double>(group.layers);
    options.input_size = stream;
    const bool leaf = runs.empty() && !s.input_needs_grad;
    options.input_needs_grad = s.recorded && !leaf;
    LayerReplay first = replay_layer(program, options);
    if ((first.output_size != stream || leaf) && left > 1) {
      runs.push_back({first, 1});
      left -= 1;
      options.input_size = stream = first.output_size;
      options.input_needs_grad = s.recorded;
      first = replay_layer(program, options);
    }
    stream = first.output_size;
    runs.push_back({first, left});
  }
  pass.output_size = stream;
  return runs;
}

// Only the inputs of the layers are kept; each layer runs again before its backward.
void checkpointed(const std::vector<Run>& runs, bool accumulating, Pass& pass) {
  double boundaries = 0, first_boundary = 0;
  for (const Run& run : runs) {
    if (first_boundary == 0) first_boundary = run.replay.input_bytes;
    boundaries += run.replay.input_bytes * run.layers;
  }
  pass.retained = only(Component::boundaries, boundaries);
  for (const Run& run : runs) {
    raise(pass.forward_peak, pass.retained + run.replay.without_grad);
    const double others = accumulating ? 0 : pass.weight_gradients - run.replay.weight_gradients;
    for (const Snapshot& peak : {run.replay.recompute_peak, run.replay.backward_peak}) {
      raise(pass.backward_peak, pass.retained + peak);
      raise(pass.backward_peak,
            only(Component::boundaries, first_boundary) + only(Component::gradients, others) + peak);
    }
  }
}

void stored(const std::vector<Run>& runs, bool accumulating, Pass& pass) {
  double unsaved_cache = 0;
  for (const Run& run : runs) {
    Snapshot layer = run.replay.saved;
    if (run.replay.input_saved) layer[Component::activations] += run.replay.input_bytes;
    pass.retained = pass.retained + times(layer, run.layers);
    unsaved_cache += run.replay.cached_only * run.layers;
  }
  pass.cached = unsaved_cache;
  for (const Run& run : runs) {
    Snapshot layer = run.replay.saved;
    if (run.replay.input_saved) layer[Component::activations] += run.replay.input_bytes;
    Snapshot before = pass.retained + times(layer, -1);
    raise(pass.forward_peak,
          before + only(Component::activations, run.replay.input_bytes) + run.replay.forward_peak);
    const double kept_input = run.replay.input_saved ? run.replay.input_bytes : 0;
    const double others = accumulating ? 0 : pass.weight_gradients - run.replay.weight_gradients;
    raise(pass.backward_peak, before + only(Component::activations, kept_input) + run.replay.backward_peak);
    raise(pass.backward_peak, only(Component::gradients, others) + only(Component::activations, kept_input) +
                                  run.replay.backward_peak);
  }
}

void without_graph(const PassSettings& s, const std::vector<Run>& runs, Pass& pass) {
  double layers = 0, widest = 0;
  for (const Run& run : runs) {
    layers += run.layers;
    widest = std::max(widest, run.replay.input_bytes);
  }
  const double kept = s.keep_hidden_states ? (layers + 1) * widest : 2 * widest;
  for (const Run& run : runs)
    raise(pass.forward_peak, only(Component::transient, kept) + run.replay.without_grad);
}

}  // namespace

LayerProgram make_program(const PassSettings& s, const model::LayerGroup& group) {
  const recipe::Recipe& r = *s.recipe;
  LayerProgram p;
  p.group = &group;
  p.code = code_of(r.model_args.implementation);
  p.plain_rms_norm = p.code == Code::litgpt && !recipe::version_at_least(r.versions.litgpt, "0.0.20231024");
  p.mode.autocast = r.autocast();
  p.attention = choose_attention(conditions(s, group));
  p.batch = s.batch;
  p.length = s.length;
  p.hidden = static_cast<double>(s.stack->hidden);
  p.norm_size = norm_size(r);
  p.train_norms = s.trained;
  p.bf16 = r.training.bf16 || (!r.training.fp16 && r.model_args.dtype == "bfloat16");
  const bool text = s.stack->part == model::Part::text;
  p.liger_norm = text && r.training.liger_rms_norm;
  p.liger_mlp = text && r.training.liger_swiglu;
  p.liger_rotary = text && r.training.liger_rope;
  p.cross_length = s.cross_length;
  p.keep_kv = s.keep_kv;
  for (const model::Linear& linear : group.linears) {
    p.linears[static_cast<std::size_t>(linear.role)] = specify(linear, *s.stack, r);
  }
  p.output_copy = p.has(Role::qkv) && group.rotary_share > 0;
  p.post_norm =
      group.attention == model::AttentionKind::bidirectional &&
      std::none_of(group.norms.begin(), group.norms.end(), [](const model::Norm& n) {
        return n.place == model::NormPlace::before_attention || n.place == model::NormPlace::before_mlp;
      });
  return p;
}

Pass replay_pass(const PassSettings& s) {
  Pass pass;
  const std::vector<Run> runs = replay_groups(s, pass);
  pass.output_bytes = s.batch * s.length * static_cast<double>(s.stack->hidden) * pass.output_size;
  for (const Run& run : runs) {
    pass.cached += run.replay.cached * run.layers;
    pass.kv_bytes += run.replay.kv_cache * run.layers;
    pass.weight_gradients += run.replay.weight_gradients * run.layers;
  }
  // From the second micro-batch on every gradient exists already, and the caller counts them all.
  const bool accumulating = s.recipe->gradients_outlive_step();
  if (!s.recorded) {
    without_graph(s, runs, pass);
  } else if (s.checkpointing) {
    checkpointed(runs, accumulating, pass);
  } else {
    stored(runs, accumulating, pass);
  }
  return pass;
}

}  // namespace plimsoll::memory
