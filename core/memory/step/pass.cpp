#include "core/memory/step/pass.h"

#include <algorithm>
#include <optional>

#include "core/memory/parameters/stacked_adapters.h"
#include "core/memory/step/replay_memo.h"
#include "core/model/model_types.h"
#include "core/recipe/implementations.h"
#include "core/recipe/stacks.h"

namespace plimsoll::memory {

namespace {

using model::Role;

// Causality alone needs no mask (transformers masking_utils.py _ignore_causal_mask_sdpa): a window that the
// row reaches does, and so do keys that stand before the sequence.
bool sees_a_part(const PassSettings& s, const model::LayerGroup& group) {
  if (s.stack->part != model::Part::text || !recipe::implementation_of(*s.recipe).transformers) return false;
  const bool windowed = group.attention == model::AttentionKind::sliding && group.window > 0;
  return s.prefix > 0 || (windowed && s.length >= static_cast<double>(group.window));
}

AttentionConditions conditions(const PassSettings& s, const model::LayerGroup& group) {
  AttentionConditions c;
  c.implementation = s.recipe->model_args.attn_implementation;
  c.transformers = s.recipe->versions.transformers;
  c.model_type = s.model_type;
  c.compute_capability = s.compute_capability;
  c.own_calls = recipe::implementation_of(*s.recipe).chooses_attention;
  c.sixteen_bit = s.recipe->autocast() || s.input_size == 2;
  c.mask = s.mask || sees_a_part(s, group);
  c.varlen = s.varlen;
  c.position_bias = group.position_bias;
  c.grouped = group.kv_heads > 0 && group.kv_heads < group.heads;
  c.one_kv_head = group.kv_heads == 1;
  c.bare_kv_head = c.one_kv_head && model::model_type(s.model_type).bare_key_head &&
                   recipe::implementation_of(*s.recipe).transformers;
  c.head_dim = static_cast<double>(group.head_dim);
  c.heads = group.heads;
  return c;
}

// What a layer makes is added to something that exists already, or leaves at once.
bool gradients_pass(const PassSettings& s) {
  return s.recipe->gradients_pass_through() || (s.sharding != nullptr && s.sharding->gradients_exist);
}

// torchtitan's selective mode by operation: attention, and every second matrix product counted from the first
// (pytorch/torchtitan torchtitan/models/llama3/infra/parallelize.py _apply_ac_to_transformer_block).
double selected_width(const LayerProgram& p, double size) {
  const auto heads = static_cast<double>(p.group->heads), head_dim = static_cast<double>(p.group->head_dim);
  double width = heads * (head_dim * size + 4);
  bool keep = true;
  for (const LinearSpec& linear : p.linears) {
    if (linear.out == 0) continue;
    if (keep) width += linear.out * size;
    keep = !keep;
  }
  return width;
}

// bitsandbytes before 0.43.2 holds x on the node itself instead of saving it: out of reach for the hooks of
// non-reentrant checkpointing, and for the backward, which gives back what was saved alone (bitsandbytes
// v0.43.1 autograd/_functions.py MatMul4Bit.forward, ctx.tensors), and in 8 bits every release does so, in the
// type that x has (MatMul8bitLt.forward, the same). Linears that read one tensor hold it once, unless each
// casts it. The width of each tensor.
std::vector<double> held_on_nodes(const LayerProgram& p, double stream_size) {
  const auto has_norm = [&p](model::NormPlace place) {
    return std::any_of(p.group->norms.begin(), p.group->norms.end(),
                       [place](const model::Norm& norm) { return norm.place == place; });
  };
  const bool one_norm = p.group->parallel && !has_norm(model::NormPlace::before_mlp);
  const std::vector<Role> readers[] = {
      {Role::q, Role::k, Role::v, Role::qkv}, {Role::gate, Role::up, Role::gate_up}, {Role::o}, {Role::down}};
  const double normed = p.norm_size == 4 && !p.liger_norm ? 4 : stream_size;
  std::vector<double> widths;
  bool read = false;  // by a linear before, the tensor at hand
  for (const std::vector<Role>& roles : readers) {
    if (!one_norm || roles.front() != Role::gate) read = false;
    for (const Role role : roles) {
      const LinearSpec& linear = p.at(role);
      const bool eight = linear.storage == Storage::eight_bit;
      if (linear.out == 0 || (!eight && (linear.storage != Storage::four_bit || !linear.keeps_input)))
        continue;
      if (eight) {
        if (!read) widths.push_back(linear.in * (role == Role::o ? stream_size : normed));
      } else if (!read || stream_size != linear.compute_size) {
        widths.push_back(linear.in * linear.compute_size);
      }
      read = true;
    }
  }
  return widths;
}

// What a checkpointed layer keeps beside its input.
Snapshot selected(const PassSettings& s, const LayerProgram& p) {
  if (!s.checkpointing || !s.recorded) return {};
  const double size = p.mode.autocast ? 2 : s.input_size;
  const double width = s.recipe->training.selective_checkpointing ? selected_width(p, size) : 0;
  return only(Component::activations, p.batch * p.length * width);
}

// And what no hook reaches, so that it stays on the GPU whatever else leaves it.
std::vector<double> unreached(const PassSettings& s, const LayerProgram& p) {
  const bool hooks = s.checkpointing && s.recorded && !s.recipe->training.use_reentrant;
  if (!hooks || !p.implementation->transformers) return {};
  std::vector<double> tensors = held_on_nodes(p, p.mode.autocast ? 2 : s.input_size);
  for (double& bytes : tensors) bytes *= p.batch * p.length;
  return tensors;
}

bool has_target(const model::LayerGroup& group, const PassSettings& s) {
  return std::any_of(group.linears.begin(), group.linears.end(),
                     [&s](const model::Linear& linear) { return is_target(linear, *s.stack, *s.recipe); });
}

// Where kinds of layers alternate, and the first layer reads what needs no gradient: the number of the first
// layer that has an adapter.
std::optional<uint64_t> first_adapted(const PassSettings& s) {
  if (s.input_needs_grad || !s.recorded || s.trained || s.stack->groups.size() < 2) return std::nullopt;
  std::optional<uint64_t> first;
  for (const model::LayerGroup& group : s.stack->groups) {
    if (group.indices.size() != group.layers || group.layers == 0) return std::nullopt;
    if (has_target(group, s)) first = std::min(first.value_or(UINT64_MAX), group.indices.front());
  }
  return first;
}

// Layers of this group below that one.
double layers_below(const model::LayerGroup& group, uint64_t number) {
  return static_cast<double>(std::lower_bound(group.indices.begin(), group.indices.end(), number) -
                             group.indices.begin());
}

// Layers of one group that run the same program; `group` is its number.
struct EqualLayers {
  std::size_t group = 0;
  LayerProgram program;
  double layers = 0;
};

// Layers that nobody reads run, and what they keep is gone with what they give.
std::vector<EqualLayers> equal_layers(const PassSettings& s) {
  std::vector<EqualLayers> all;
  all.reserve(s.stack->groups.size());
  for (std::size_t i = 0; i < s.stack->groups.size(); ++i) {
    const model::LayerGroup& group = s.stack->groups[i];
    LayerProgram program = make_program(s, group);
    const uint64_t prompted =
        program.adaption > 0 ? prompted_layers(*s.stack, group, *s.recipe) : group.layers;
    if (prompted < group.layers) {
      LayerProgram bare = program;
      bare.adaption = 0;
      all.push_back({i, bare, static_cast<double>(group.layers - prompted)});
      if (prompted == 0) continue;
    }
    all.push_back({i, program, static_cast<double>(prompted)});
  }
  if (s.recorded && !all.empty())
    all.back().layers = std::max(1.0, all.back().layers - static_cast<double>(s.stack->unread_layers));
  return all;
}

// What the pass does not run is not walked.
LayerReplayOptions options_of(const PassSettings& s, const Stage& stage) {
  const bool reentrant = s.recipe->training.use_reentrant;
  LayerReplayOptions options;
  options.keep_output = s.checkpointing && reentrant;
  options.stop_early = s.checkpointing && !reentrant;
  options.accumulating = stage.gradients_pass;
  if (!s.recorded) options.walks = Walks::without_graph;
  if (s.recorded && !s.checkpointing) options.walks = Walks::with_graph;
  return options;
}

void replay_groups(const PassSettings& s, Stage& stage) {
  std::vector<LayerRun>& runs = stage.runs;
  int stream = s.input_size;
  bool no_gradient_yet = !s.input_needs_grad;  // nothing before or in these layers needs a gradient
  const std::optional<uint64_t> first = first_adapted(s);
  for (const EqualLayers& equal : equal_layers(s)) {
    const LayerProgram& program = equal.program;
    const model::LayerGroup& group = *program.group;
    if (stage.attention.empty()) stage.attention = program.attention.why;
    LayerReplayOptions options = options_of(s, stage);
    const auto walk = [&](bool leaf) {
      LayerRun run;
      if (s.gathered != nullptr) run.gathered = (*s.gathered)[equal.group];
      options.input_size = stream;
      options.input_needs_grad = s.recorded && !leaf;
      options.cross_needs_grad = s.recorded && s.cross_needs_grad;
      if (s.traced) options.trace = &run.trace;
      run.replay = s.memo != nullptr && options.trace == nullptr ? s.memo->replay(program, options)
                                                                 : replay_layer(program, options);
      run.selected = selected(s, program);
      run.unreached = unreached(s, program);
      if (s.recorded && keeps_last_graph(*s.recipe)) {
        for (const double width : held_on_nodes(program, s.input_size))
          run.on_nodes += program.batch * program.length * width;
      }
      return run;
    };
    double left = equal.layers;
    const bool passed_by = first && !has_target(group, s);
    if (const double below = passed_by ? std::min(left, layers_below(group, *first)) : 0; below > 0) {
      LayerRun run = walk(true);
      if (!run.replay.output_needs_grad) {  // adapters of single parameters are no target
        run.layers = below;
        runs.insert(runs.begin(), std::move(run));  // they run before all that is trained
        left -= below;
      }
      if (left == 0) continue;
    }
    const bool leaf = no_gradient_yet && !passed_by;
    LayerRun run = walk(leaf);
    // Some linears are counted but not walked (indexers, gates of linear attention); their adapters wake a
    // layer all the same.
    if (leaf && !run.replay.output_needs_grad && s.recorded && has_target(group, s)) run = walk(false);
    no_gradient_yet = no_gradient_yet && !run.replay.output_needs_grad;
    const int after = run.replay.output_size;
    if ((after != stream || (leaf && !no_gradient_yet)) && left > 1) {
      run.layers = 1;
      left -= 1;
      runs.push_back(std::move(run));
      stream = after;
      run = walk(no_gradient_yet);
    }
    stream = run.replay.output_size;
    run.layers = left;
    runs.push_back(std::move(run));
  }
  stage.output_size = stream;
  stage.output_needs_grad = s.recorded && !no_gradient_yet;
}

// Unsloth leaves tensors up to this size where they are.
constexpr double least_offloaded = 2.0 * 1024 * 1024;

// Bytes of the layer inputs that are on the GPU on their way to host memory or back, 0: they stay on the GPU.
// Unsloth has two buffers; PyTorch's saved-tensor hooks in torchtune and TRL let five tensors wait for a
// copy.
double buffers(const Stage& stage, const recipe::Training& training, double layers, double widest) {
  if (!stage.recorded || !stage.checkpointing) return 0;
  if (!training.offload_checkpoints && !training.activation_offloading) return 0;
  return widest < least_offloaded ? 0 : widest * std::min(layers, training.activation_offloading ? 5.0 : 2.0);
}

const char* part_name(model::Part part) {
  switch (part) {
    case model::Part::text:
      return "text";
    case model::Part::vision:
      return "vision";
    case model::Part::projector:
      return "projector";
    case model::Part::encoder:
      return "encoder";
    case model::Part::decoder:
      return "decoder";
    case model::Part::audio:
      return "audio";
  }
  return "";
}

// torch's grouped_mm runs from Ampere on since 2.9, and on Hopper alone before (transformers
// integrations/moe.py _can_use_grouped_mm).
bool lacks_grouped_kernel(double compute_capability, const recipe::Recipe& r) {
  if (compute_capability == 0) return false;
  const bool any_ampere = recipe::version_at_least(r.versions.torch, "2.9");
  return any_ampere ? compute_capability < 8 : compute_capability < 9 || compute_capability >= 10;
}

}  // namespace

bool keeps_last_graph(const recipe::Recipe& r) {
  return recipe::stack_traits(r.stack).keeps_last_graph && !r.training.gradient_checkpointing &&
         recipe::version_at_least(r.versions.litgpt, "0.2");
}

Linears specify_all(const model::LayerGroup& group, const model::Stack& stack, const recipe::Recipe& recipe) {
  Linears linears{};
  for (const model::Linear& linear : group.linears) {
    linears[static_cast<std::size_t>(linear.role)] = specify(linear, stack, recipe);
  }
  return linears;
}

LayerProgram make_outline(const PassSettings& s, const model::LayerGroup& group) {
  const recipe::Recipe& r = *s.recipe;
  LayerProgram p;
  p.group = &group;
  p.implementation = &recipe::implementation_of(r);
  const std::string_view since = p.implementation->norms_in_fp32_since;
  p.plain_rms_norm = !since.empty() && !recipe::version_at_least(r.versions.litgpt, since);
  p.mode.autocast = r.autocast();
  p.batch = s.batch;
  p.length = s.length;
  p.hidden = static_cast<double>(s.stack->hidden);
  p.prefix = s.prefix;
  p.norm_size = norm_size(r);
  const bool text = s.stack->part == model::Part::text;
  if (const Tuner* tuner = text ? find_tuner(r.peft) : nullptr) {
    if (tuner->place == TunerPlace::attention) p.adaption = static_cast<double>(r.peft.tuner.adapter_len);
  }
  if (s.trained && !group.frozen) p.norm_size = trained_size(r, p.norm_size);
  const bool any_norm = std::any_of(group.norms.begin(), group.norms.end(),
                                    [](const model::Norm& norm) { return !norm.frozen; });
  p.train_norms = (s.trained && !group.frozen && any_norm) || (is_language(*s.stack) && trains_norms(r));
  p.bf16 = r.training.bf16 || (!r.training.fp16 && r.model_args.dtype == "bfloat16");
  // A compiled layer keeps what its matrix products and its attention read, and computes what lies between
  // again, as Liger's kernels do (torch/_functorch/partitioners.py min_cut_rematerialization_partition).
  // Unsloth's norm and rotary kernels keep as little.
  const bool compiled = text && r.training.torch_compile;
  const bool unsloth = text && p.implementation->patched && r.peft.on;
  p.liger_norm = (text && r.training.liger_rms_norm) || compiled || unsloth;
  p.liger_mlp = (text && r.training.liger_swiglu) || compiled;
  p.liger_rotary = (text && r.training.liger_rope) || compiled || unsloth;
  p.copies_slices = text && !compiled && !unsloth;
  p.dropout_off = r.training.disable_dropout && group.dropout_modules;
  p.cross_length = s.cross_length;
  p.keep_kv = s.keep_kv;
  p.stacked_experts = group.experts > 0 && group.experts_at_once && has_stacked_experts(r);
  const model::Linear* down = model::find(group, Role::down);
  p.expert_slices = !p.stacked_experts && !r.model_args.linearized_experts && down != nullptr &&
                    down->expert && down->module == model::Module::parameter;
  p.grouped_stand_in = p.stacked_experts && lacks_grouped_kernel(s.compute_capability, r);
  p.torch_kernels = r.model_args.kernels == "torch";
  p.scans_by_einsum = recipe::version_at_least(r.versions.transformers, "5.18");
  p.repeats_keys = p.torch_kernels || !recipe::version_at_least(r.versions.transformers, "5.23");
  p.solves_triangles = recipe::version_at_least(r.versions.transformers, "5.17");
  p.fused_gate_norm = !recipe::version_at_least(r.versions.transformers, "5.15");
  p.folded_factors = recipe::version_at_least(r.versions.peft, "0.21");
  p.weight_each_time = !recipe::version_at_least(r.versions.peft, "0.19");  // huggingface/peft#2912
  return p;
}

LayerProgram make_program(const PassSettings& s, const model::LayerGroup& group) {
  LayerProgram p = make_outline(s, group);
  p.attention = p.cross_attention = choose_attention(conditions(s, group));
  p.cross_attention.converted_mask = false;
  if (s.stack->part == model::Part::decoder && p.attention.kernel != AttentionKernel::eager) {
    AttentionConditions cross = conditions(s, group);
    cross.mask = s.cross_mask;
    p.cross_attention = choose_attention(cross);
  }
  // Until 4.48 the attention module forgot the weights that nobody had asked for.
  p.holds_weights = p.attention.kernel == AttentionKernel::eager && p.implementation->transformers &&
                    recipe::version_at_least(s.recipe->versions.transformers, "4.48");
  p.returns_weights = p.holds_weights && group.returns_weights &&
                      recipe::version_at_least(s.recipe->versions.transformers, "4.54");
  if (p.implementation->repeats_keys)
    p.attention.repeat_kv = true;  // expand().flatten(): a copy for every head
  const bool known = s.memo != nullptr && s.known_parameters != nullptr;
  p.linears = known ? s.memo->linears(*s.known_parameters, group, *s.stack, *s.recipe)
                    : specify_all(group, *s.stack, *s.recipe);
  if (s.adapters_off) {
    for (LinearSpec& spec : p.linears) {
      spec.r = 0;
      spec.tuner = nullptr;
    }
  }
  // torch.cat of turned and unturned parts lays q out by head; so is what the kernel returns, and it is
  // copied.
  const bool partly_turned = group.rotary_share > 0 && group.rotary_share < 1;
  p.output_copy = group.heads_first || (p.has(Role::qkv) && group.rotary_share > 0) || partly_turned;
  return p;
}

Stage replay_stack(const PassSettings& s) {
  Stage stage;
  stage.part = part_name(s.stack->part);
  stage.recorded = s.recorded;
  stage.checkpointing = s.checkpointing;
  stage.stop_early = !s.recipe->training.use_reentrant;
  stage.keeps_casts = s.recorded || s.keeps_casts;
  stage.gradients_pass = gradients_pass(s);
  replay_groups(s, stage);
  stage.output_bytes = s.batch * s.length * static_cast<double>(s.stack->hidden) * stage.output_size;
  double layers = 0, widest = 0, inputs = 0;
  for (const LayerRun& run : stage.runs) {
    layers += run.layers;
    widest = std::max(widest, run.replay.input_bytes);
    inputs += run.replay.input_bytes * run.layers;
    stage.kv_bytes += run.replay.kv_cache * run.layers;
    stage.weight_gradients += run.replay.weight_gradients * run.layers;
  }
  if (!s.recorded) stage.standing = (s.keep_hidden_states ? layers + 1 : 2) * widest;
  stage.offload_buffers = buffers(stage, s.recipe->training, layers, widest);
  if (stage.offload_buffers > 0) stage.host_bytes = inputs;
  stage.stem = stage.runs.empty() ? 0 : stem_bytes(s, stage);
  return stage;
}

}  // namespace plimsoll::memory
