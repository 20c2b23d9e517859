#include "core/memory/layers/mlp.h"

#include <utility>

#include "core/memory/layers/adapted_experts.h"
#include "core/memory/layers/stacked_experts.h"
#include "core/memory/layers/unsloth.h"

namespace plimsoll::memory {

namespace {

using model::Activation;
using model::Role;

// LitGPT and torchtune call one kernel for every GELU.
Activation activation_of(const LayerProgram& p) {
  const Activation kind = p.group->activation;
  return p.implementation->one_gelu && kind == Activation::gelu_new ? Activation::gelu_tanh : kind;
}

// LigerSiLUMulFunction keeps both, and computes silu again in its backward.
Tensor silu_times_up(Tape& tape, const Tensor& gate, const Tensor& up) {
  Tensor product = tape.make(gate.elements(), gate.size(), Component::transient);
  tape.record(product, {gate, up}, {gate, up}, {pass(0), gradient(1, up.bytes())});
  return product;
}

Tensor gated(Tape& tape, const LayerProgram& p, const Tensor& x, Role gate_role, Role up_role,
             Role down_role) {
  Tensor product;
  Tensor sliced;  // Liger's modules still name slices of it when they return (LigerPhi3SwiGLUMLP.forward)
  if (gate_role == Role::gate && activation_of(p) == Activation::clamped_glu) {
    product = clamped_glu(tape, run_linear(tape, p, Role::gate_up, x));
  } else if (p.has(Role::gate_up) && gate_role == Role::gate && p.implementation->separate_projections) {
    const LinearSpec& both = p.at(Role::gate_up);  // these never fuse gate and up
    const LinearSpec half = part_of(both, both.out / 2, true);
    Tensor gate = linear(tape, p.mode, x, half);
    Tensor up = linear(tape, p.mode, x, half);
    product = multiply(tape, activation(tape, p.mode, activation_of(p), std::move(gate)), std::move(up));
  } else if (p.has(Role::gate_up) && gate_role == Role::gate) {
    Tensor both = run_linear(tape, p, Role::gate_up, x);
    Tensor gate = slice(tape, both, both.elements() / 2);
    Tensor up = slice(tape, both, both.elements() / 2);
    if (p.liger_mlp) {
      if (p.copies_slices) {
        gate = copy(tape, std::move(gate));
        up = copy(tape, std::move(up));
      }
      product = silu_times_up(tape, gate, up);
      sliced = std::move(both);
    } else {
      tape.doing = "activation";
      Tensor active = activation(tape, p.mode, activation_of(p), std::move(gate));
      tape.doing = "gate times up";
      product = multiply(tape, std::move(up), std::move(active));
      both.free();
    }
  } else {
    Tensor gate = run_linear(tape, p, gate_role, x);
    if (p.liger_mlp) {
      Tensor up = run_linear(tape, p, up_role, x);
      product = silu_times_up(tape, gate, up);
    } else {
      tape.doing = "activation";
      Tensor active = activation(tape, p.mode, activation_of(p), std::move(gate));
      Tensor up = run_linear(tape, p, up_role, x);
      tape.doing = "gate times up";
      product = multiply(tape, std::move(active), std::move(up));
    }
  }
  product = dropout(tape, std::move(product), p.dropped(p.group->activation_dropout));
  Tensor out = run_linear(tape, p, down_role, product);
  product.free();
  return out;
}

Tensor plain_mlp(Tape& tape, const LayerProgram& p, const Tensor& x, Role up_role, Role down_role) {
  Tensor up = run_linear(tape, p, up_role, x);
  tape.doing = "activation";
  Tensor active = activation(tape, p.mode, activation_of(p), std::move(up), p.train_norms);
  if (p.group->keeps_activation && p.frame != nullptr && !p.keeps_frame) p.frame->push_back(active);
  active = dropout(tape, std::move(active), p.dropped(p.group->activation_dropout));
  return run_linear(tape, p, down_role, active);
}

// One routed expert on the rows that chose it: gather, MLP, weigh. Its result is added into a tensor of all
// rows.
Tensor one_expert(Tape& tape, const LayerProgram& p, const Tensor& x, double rows) {
  const double width = p.has(Role::latent_in) ? p.at(Role::latent_in).out : p.hidden;
  Tensor gathered = tape.make(rows * width, x.size(), Component::transient);
  tape.record(gathered, {x}, {}, {gradient(0, x.bytes())});
  Tensor out = p.has(Role::gate) || p.has(Role::gate_up)
                   ? gated(tape, p, gathered, Role::gate, Role::up, Role::down)
                   : plain_mlp(tape, p, gathered, Role::up, Role::down);
  gathered.free();
  Tensor weighted = tape.make(out.elements(), out.size(), Component::transient);
  tape.record(weighted, {out}, {out}, {gradient(0, out.bytes())});
  return weighted;
}

// All experts but the last: what they keep, cache and leave as gradients is what one keeps, times their
// number.
void other_experts(Tape& tape, const LayerProgram& p, const Tensor& x, double rows, double others,
                   const Tensor& sum) {
  Tape probe;
  probe.recording = tape.recording;
  Tensor input = probe.input(x.elements(), x.size(), x.needs_grad(), Component::inputs);
  Tensor out = one_expert(probe, p, input, rows);
  const double cached = probe.cached_bytes();
  const double kept = probe.live().total() - input.bytes() - out.bytes();
  if (cached > 0) tape.cached(others * cached / 2, 2);
  Tensor bulk = tape.make(others * (kept - cached), 1, Component::transient);
  probe.seed_gradient(out);
  probe.backward();
  // A slice of one parameter for all gets a gradient as large as the parameter (SelectBackward).
  const LinearSpec& down = p.at(Role::down);
  const bool slices = p.has(Role::gate_up) && down.trainable && p.expert_slices;
  const double whole =
      slices ? p.at(Role::gate_up).in * p.at(Role::gate_up).out * (others + 1) * down.size : 0;
  tape.record(
      sum, {x}, {bulk},
      {gradient(0, x.bytes()), weight_gradient(others * probe.weight_gradient_bytes()), temporary(whole)},
      probe.weight_gradient_bytes() > 0);
}

// Experts of a stacked parameter that PEFT has adapted, one at a time: each reads its slice of the weight,
// and its gradient is one of the whole weight. Until PEFT 0.19 each read made the weight of all experts anew.
struct AdaptedLoop {
  StackedWeight weight;
  Adapted adapted;
  double reads = 1;  // that make a weight
};

AdaptedLoop enter_loop(Tape& tape, const LayerProgram& p, const StackedWeight& weight) {
  AdaptedLoop loop{weight, enter(tape, p, weight, p.folded_factors), 1};
  if (p.weight_each_time) loop.reads = static_cast<double>(p.group->experts);
  return loop;
}

void read_slices(Tape& tape, AdaptedLoop& loop, const Tensor& sum) {
  if (loop.weight.rank() == 0) return;
  ask(tape, loop.weight, loop.adapted);
  tape.doing = "adapted experts";
  const double bytes = loop.weight.bytes();
  Tensor others = tape.make(tape.recording ? (loop.reads - 1) * bytes : 0, 1, Component::transient);
  tape.record(sum, {loop.adapted.weight}, {loop.adapted.weight, others}, {gradient(0, bytes)});
}

// A loop over experts, each with its share of the routed rows. transformers
// models/mixtral/modeling_mixtral.py MixtralSparseMoeBlock.
Tensor expert_loop(Tape& tape, const LayerProgram& given, const Tensor& x, const Tensor& routed) {
  const model::LayerGroup& g = *given.group;
  const auto count = static_cast<double>(g.experts);
  const double share = given.batch * given.length * static_cast<double>(g.experts_per_token) / count;
  LayerProgram p = given;
  Tensor weights;
  if (p.has(Role::router)) {
    Tensor scores = run_linear(tape, p, Role::router, x);
    Tensor probabilities = tape.make(scores.elements(), 4, Component::transient);
    tape.record(probabilities, {scores}, {probabilities}, {gradient(0, scores.bytes())});
    weights = std::move(probabilities);
  }
  AdaptedLoop second, first;
  if (p.has(Role::gate_up) && (p.at(Role::gate_up).stacked || p.at(Role::down).stacked)) {
    second = enter_loop(tape, p, weight_of(p, Role::down, count));
    first = enter_loop(tape, p, gate_up_of(p, count));
    for (LinearSpec& spec : p.linears) spec.r = spec.stacked ? 0 : spec.r;
  }
  Tensor sum = tape.make(routed.elements(), x.size(), Component::transient);
  if (weights) tape.record_unread(sum, {weights}, {gradient(0, weights.bytes())});
  weights.free();
  read_slices(tape, first, sum);
  read_slices(tape, second, sum);
  other_experts(tape, p, routed, share, count - 1, sum);
  Tensor last = one_expert(tape, p, routed, share);
  tape.record(sum, {last}, {}, {gradient(0, last.bytes())});
  return sum;
}

// Every expert runs on every row, times a share that is nought where it was not chosen: one bmm for gate and
// up, one for down. transformers models/llama4/modeling_llama4.py Llama4TextMoe, Llama4TextExperts.
Tensor experts_on_all_rows(Tape& tape, const LayerProgram& given, const Tensor& x) {
  const auto count = static_cast<double>(given.group->experts);
  const double all = x.elements() * count;
  LayerProgram p = given;
  for (const Role role : {Role::gate_up, Role::gate, Role::up, Role::down})
    p.linears[static_cast<std::size_t>(role)].copies = count;
  Tensor scores = run_linear(tape, p, Role::router, x);
  Tensor sigmoid = tape.make(scores.elements(), 4, Component::transient);
  tape.record(sigmoid, {scores}, {sigmoid}, {gradient(0, scores.bytes())});
  const Tensor shares = cast(tape, std::move(sigmoid), x.size());
  Tensor repeated = tape.make(all, x.size(), Component::transient);
  tape.record(repeated, {x}, {}, {gradient(0, x.bytes())});
  Tensor weighed = tape.make(all, x.size(), Component::transient);
  tape.record(weighed, {repeated, shares}, {repeated, shares},
              {gradient(0, repeated.bytes()), temporary(repeated.bytes()), gradient(1, shares.bytes())});
  repeated.free();
  Tensor out = gated(tape, p, weighed, Role::gate, Role::up, Role::down);
  weighed.free();
  Tensor sum = tape.make(x.elements(), out.size(), Component::transient);
  tape.record_unread(sum, {out}, {gradient(0, out.bytes())});
  return sum;
}

// The expert that reads every row, in some families times a share of its own.
Tensor shared_expert(Tape& tape, const LayerProgram& p, const Tensor& x) {
  if (!p.has(Role::shared_gate)) return plain_mlp(tape, p, x, Role::shared_up, Role::shared_down);
  return gated(tape, p, x, Role::shared_gate, Role::shared_up, Role::shared_down);
}

Tensor switched(Tape& tape, const LayerProgram& p, const Tensor& x, Tensor out) {
  if (!p.has(Role::shared_switch)) return out;
  Tensor share = run_linear(tape, p, Role::shared_switch, x);
  Tensor sigmoid = tape.make(share.elements(), share.size(), Component::transient);
  tape.record(sigmoid, {share}, {sigmoid}, {gradient(0, share.bytes())});
  Tensor product = tape.make(out.elements(), out.size(), Component::transient);
  tape.record(product, {out, sigmoid}, {out, sigmoid},
              {gradient(0, out.bytes()), temporary(out.bytes()), gradient(1, sigmoid.bytes())});
  return product;
}

Tensor experts(Tape& tape, const LayerProgram& given, const Tensor& x) {
  LayerProgram p = given;
  for (LinearSpec& spec : p.linears) spec.copies = 1;
  const bool latent = p.has(Role::latent_in), shares = p.has(Role::shared_down);
  const bool shared_first = shares && p.stacked_experts && p.group->shared_first;
  Tensor shared = shared_first ? shared_expert(tape, p, x) : Tensor();
  Tensor routed = latent ? run_linear(tape, p, Role::latent_in, x) : x;
  const bool adapted = p.at(Role::gate_up).stacked || p.at(Role::down).stacked;
  const bool all = p.group->experts_read_all && !adapted;
  Tensor sum = all                 ? experts_on_all_rows(tape, p, x)
               : p.stacked_experts ? stacked_experts(tape, p, x, routed)
                                   : expert_loop(tape, p, x, routed);
  routed.free();
  if (latent) sum = run_linear(tape, p, Role::latent_out, sum);
  if (!shares) return sum;
  if (!shared_first) shared = shared_expert(tape, p, x);
  return add(tape, std::move(sum), switched(tape, p, x, std::move(shared)));
}

}  // namespace

Tensor mlp(Tape& tape, const LayerProgram& p, const Tensor& x) {
  if (p.group->experts > 0) return experts(tape, p, x);
  if (unsloth_mlp_fits(p)) return unsloth_mlp(tape, p, x);
  if (p.group->gated) return gated(tape, p, x, Role::gate, Role::up, Role::down);
  return plain_mlp(tape, p, x, Role::up, Role::down);
}

}  // namespace plimsoll::memory
