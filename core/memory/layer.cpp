#include "core/memory/layer.h"

#include <utility>

#include "core/memory/litgpt.h"
#include "core/memory/state_space.h"
#include "core/memory/unsloth.h"

namespace plimsoll::memory {

namespace {

using model::Activation;
using model::NormPlace;
using model::Role;

// By role: what a reader of the timeline calls the module.
constexpr const char* role_names[role_count] = {
    "q_proj",       "k_proj",          "v_proj",           "o_proj",         "qkv_proj",
    "q_a_proj",     "q_b_proj",        "kv_a_proj",        "kv_b_proj",      "cross q",
    "cross k",      "cross v",         "cross o",          "gate_proj",      "up_proj",
    "gate_up_proj", "down_proj",       "shared gate_proj", "shared up_proj", "shared down_proj",
    "router",       "fc1_latent_proj", "fc2_latent_proj",  "in_proj",        "x_proj",
    "dt_proj",      "out_proj",        "lm_head",          "linear"};

Tensor run(Tape& tape, const LayerProgram& p, Role role, const Tensor& x) {
  tape.doing = role_names[static_cast<std::size_t>(role)];
  return linear(tape, p.mode, x, p.at(role));
}

const model::Norm* find_norm(const LayerProgram& p, NormPlace place) {
  for (const model::Norm& norm : p.group->norms) {
    if (norm.place == place) return &norm;
  }
  return nullptr;
}

Tensor normalise(Tape& tape, const LayerProgram& p, const model::Norm& norm, const Tensor& x) {
  tape.doing = "norm";
  const auto width = static_cast<double>(norm.width);
  if (norm.kind != model::NormKind::rms) {
    return any_layer_norm(tape, p.mode, norm.kind, x, width, norm.weight ? p.norm_size : 0,
                          p.train_norms && norm.weight);
  }
  if (p.liger_norm) return fused_rms_norm(tape, x, width, p.train_norms);
  if (p.plain_rms_norm) return plain_rms_norm(tape, x, width, p.train_norms);
  const bool fp32_product = norm.fp32_weight_product || p.code == Code::litgpt;
  return rms_norm(tape, x, width, norm.weight ? p.norm_size : 0, p.train_norms, fp32_product);
}

// x itself when the layer has no norm there.
Tensor normalise_at(Tape& tape, const LayerProgram& p, NormPlace place, Tensor x) {
  const model::Norm* norm = find_norm(p, place);
  if (norm == nullptr) return x;
  Tensor out = normalise(tape, p, *norm, x);
  x.free();
  return out;
}

struct Heads {
  Tensor q, k, v;
};

Heads project(Tape& tape, const LayerProgram& p, const Tensor& h) {
  if (unsloth_qkv_fits(p)) {
    std::array<Tensor, 3> made = unsloth_qkv(tape, p, h);
    return {std::move(made[0]), std::move(made[1]), std::move(made[2])};
  }
  const model::LayerGroup& g = *p.group;
  const double rows = p.batch * p.length;
  if (!p.has(Role::qkv)) {
    Tensor q = p.has(Role::q_a)
                   ? run(tape, p, Role::q, normalise_at(tape, p, NormPlace::q_a, run(tape, p, Role::q_a, h)))
                   : run(tape, p, Role::q, h);
    const double keys = rows * static_cast<double>(g.kv_heads * g.head_dim);
    // Gemma 4: late layers read the keys and values of an earlier one, and keys may serve as values.
    Tensor k = p.has(Role::k) ? run(tape, p, Role::k, h) : tape.make(keys, q.size(), Component::transient);
    Tensor v = p.has(Role::v)   ? run(tape, p, Role::v, h)
               : p.has(Role::k) ? copy(tape, k)
                                : tape.view(k, keys);
    return {std::move(q), std::move(k), std::move(v)};
  }
  const auto head = static_cast<double>(g.head_dim);
  if (p.has(Role::gate_up) && (p.code == Code::torchtune || p.code == Code::unsloth)) {  // never fused
    LinearSpec part = p.at(Role::qkv);
    part.parts = 1;
    part.out = static_cast<double>(g.heads) * head;
    Tensor q = linear(tape, p.mode, h, part);
    part.out = static_cast<double>(g.kv_heads) * head;
    Tensor k = linear(tape, p.mode, h, part);
    Tensor v = linear(tape, p.mode, h, part);
    return {std::move(q), std::move(k), std::move(v)};
  }
  Tensor fused = run(tape, p, Role::qkv, h);
  Tensor q = slice(tape, fused, rows * static_cast<double>(g.heads) * head);
  Tensor k = slice(tape, fused, rows * static_cast<double>(g.kv_heads) * head);
  Tensor v = slice(tape, fused, rows * static_cast<double>(g.kv_heads) * head);
  return {std::move(q), std::move(k), std::move(v)};
}

// DeepSeek: q and k,v come through narrow projections; k is put together from a shared rotary part and its
// own.
Heads project_latent(Tape& tape, const LayerProgram& p, const Tensor& h) {
  const model::LayerGroup& g = *p.group;
  const double rows = p.batch * p.length;
  const auto heads = static_cast<double>(g.heads);
  Tensor q;
  if (p.has(Role::q_a)) {
    Tensor narrow = normalise_at(tape, p, NormPlace::q_a, run(tape, p, Role::q_a, h));
    q = run(tape, p, Role::q_b, narrow);
  } else {
    q = run(tape, p, Role::q, h);
  }
  Tensor shared = run(tape, p, Role::kv_a, h);
  const double latent = p.at(Role::kv_b).in;
  Tensor narrow = normalise_at(tape, p, NormPlace::kv_a, slice(tape, shared, rows * latent));
  Tensor wide = run(tape, p, Role::kv_b, narrow);
  Tensor v = slice(tape, wide, rows * heads * static_cast<double>(g.value_head_dim));
  Tensor k = tape.make(rows * heads * static_cast<double>(g.head_dim), q.size(), Component::transient);
  tape.record_unread(k, {wide, shared}, {gradient(0, wide.bytes()), gradient(1, shared.bytes())});
  Tensor turned = copy(tape, q);
  return {std::move(turned), std::move(k), std::move(v)};
}

void turn(Tape& tape, const LayerProgram& p, const Tensor& h, Heads& heads) {
  if (p.group->rotary_share <= 0 || p.group->attention == model::AttentionKind::latent) return;
  if (p.liger_rotary) return;  // Liger rotates in place
  tape.doing = "rotary positions";
  // torchtune, too, rotates in fp32 and casts back.
  const bool wide = p.code == Code::torchtune || p.group->rotary_in_fp32;
  const int table = wide ? 4 : h.size();
  Tensor q = cast(tape, rotate(tape, heads.q, table), wide ? heads.q.size() : table);
  Tensor k = cast(tape, rotate(tape, heads.k, table), wide ? heads.k.size() : table);
  heads.q = std::move(q);
  heads.k = std::move(k);
}

AttentionShape shape_of(const LayerProgram& p) {
  const model::LayerGroup& g = *p.group;
  AttentionShape shape;
  shape.batch = p.batch;
  shape.length = p.length;
  shape.heads = static_cast<double>(g.heads);
  shape.kv_heads = static_cast<double>(g.kv_heads);
  shape.head_dim = static_cast<double>(g.head_dim);
  shape.value_head_dim = static_cast<double>(g.value_head_dim == 0 ? g.head_dim : g.value_head_dim);
  shape.repeat_kv = p.attention.repeat_kv && g.kv_heads > 1 && g.attention != model::AttentionKind::latent;
  shape.fp32_softmax = g.scores != model::Scores::own_type || p.mode.autocast;
  shape.scores_in_fp32 = g.scores == model::Scores::fp32;
  shape.soft_capped = g.soft_capped;
  shape.bf16 = p.bf16;
  shape.dropout = g.attention_dropout;
  if (p.prefix > 0) shape.key_length = p.length + p.prefix;
  return shape;
}

// PEFT src/peft/tuners/adaption_prompt/layer.py: the queries, projected once more, attend to the adapter's
// tokens with a softmax in fp32; a trained gate scales what they find.
Tensor adaption_prompt(Tape& tape, const LayerProgram& p, const Tensor& h, Tensor out) {
  const double rows = p.batch * p.length, heads = static_cast<double>(p.group->heads);
  Tensor q = rotate(tape, run(tape, p, Role::q, h), h.size());
  Tensor scores = tape.make(rows * heads * p.adaption, h.size(), Component::transient);
  tape.record(scores, {q}, {q}, {gradient(0, q.bytes())});
  Tensor shares = tape.make(scores.elements(), 4, Component::transient);
  tape.record(shares, {scores}, {shares}, {temporary(shares.bytes()), gradient(0, scores.bytes())});
  Tensor narrow = cast(tape, std::move(shares), h.size());
  scores.free();
  Tensor found = tape.make(out.elements(), h.size(), Component::transient);
  tape.record(found, {narrow}, {narrow}, {gradient(0, narrow.bytes())});
  narrow.free();
  Tensor gated = tape.make(found.elements(), found.size(), Component::transient);
  tape.record(gated, {found}, {found},
              {gradient(0, found.bytes()), weight_gradient(p.adaption * p.hidden * h.size())}, true);
  found.free();
  return add(tape, std::move(out), std::move(gated));
}

// LFM2: gate times signal, a short convolution over padded rows, gate times that (transformers models/lfm2
// Lfm2ShortConv.slow_forward).
Tensor short_convolution(Tape& tape, const LayerProgram& p, const Tensor& h) {
  Tensor all = run(tape, p, Role::qkv, h);
  tape.doing = "convolution";
  const double wide = all.elements() / 3;
  Tensor signal = multiply(tape, slice(tape, all, wide), slice(tape, all, wide));
  Tensor mixed = tape.make(signal.elements(), signal.size(), Component::transient);
  tape.record(mixed, {signal}, {signal}, {gradient(0, signal.bytes())}, p.train_norms);
  signal.free();
  Tensor out = multiply(tape, slice(tape, all, wide), std::move(mixed));
  all.free();
  return run(tape, p, Role::o, copy(tape, std::move(out)));
}

Tensor self_attention(Tape& tape, const LayerProgram& p, const Tensor& h) {
  if (p.group->attention == model::AttentionKind::short_convolution) return short_convolution(tape, p, h);
  const bool latent = p.group->attention == model::AttentionKind::latent;
  if (p.code == Code::litgpt && !latent) {
    Tensor out = litgpt_attention(tape, p, shape_of(p), h);
    return run(tape, p, Role::o, out);
  }
  Heads heads = latent ? project_latent(tape, p, h) : project(tape, p, h);
  heads.q = normalise_at(tape, p, NormPlace::q, std::move(heads.q));
  heads.k = normalise_at(tape, p, NormPlace::k, std::move(heads.k));
  turn(tape, p, h, heads);
  tape.doing = "attention";
  if (p.keep_kv && p.kv != nullptr) {
    p.kv->push_back(tape.make(heads.k.elements() + heads.v.elements(), heads.k.size(), Component::kv_cache));
  }
  Tensor out = attend(tape, p.mode, p.attention.kernel, shape_of(p), heads.q, heads.k, heads.v);
  if (p.output_copy) out = copy(tape, std::move(out));
  Tensor projected =
      unsloth_qkv_fits(p) ? unsloth_linear(tape, out, p.at(Role::o)) : run(tape, p, Role::o, out);
  if (p.adaption > 0) return adaption_prompt(tape, p, h, std::move(projected));
  return projected;
}

// Keys and values come from other states: an encoder's, or an image's.
Tensor cross_attention(Tape& tape, const LayerProgram& p, const Tensor& h) {
  Tensor q = run(tape, p, Role::cross_q, h);
  Tensor k = run(tape, p, Role::cross_k, *p.cross_states);
  Tensor v = run(tape, p, Role::cross_v, *p.cross_states);
  q = normalise_at(tape, p, NormPlace::q, std::move(q));
  k = normalise_at(tape, p, NormPlace::k, std::move(k));
  AttentionShape shape = shape_of(p);
  shape.key_length = p.cross_length;
  Tensor out = attend(tape, p.mode, p.attention.kernel, shape, std::move(q), std::move(k), std::move(v));
  return run(tape, p, Role::cross_o, out);
}

// LitGPT and torchtune call one kernel for every GELU.
Activation activation_of(const LayerProgram& p) {
  const Activation kind = p.group->activation;
  return p.code != Code::transformers && kind == Activation::gelu_new ? Activation::gelu_tanh : kind;
}

Tensor gated(Tape& tape, const LayerProgram& p, const Tensor& x, Role gate_role, Role up_role,
             Role down_role) {
  Tensor product;
  if (p.has(Role::gate_up) && gate_role == Role::gate && p.code != Code::transformers) {
    LinearSpec half = p.at(Role::gate_up);  // these never fuse gate and up
    half.out /= 2;
    half.parts = 1;
    Tensor gate = linear(tape, p.mode, x, half);
    Tensor up = linear(tape, p.mode, x, half);
    product = multiply(tape, activation(tape, activation_of(p), std::move(gate)), std::move(up));
  } else if (p.has(Role::gate_up) && gate_role == Role::gate) {
    Tensor both = run(tape, p, Role::gate_up, x);
    Tensor gate = slice(tape, both, both.elements() / 2);
    Tensor up = slice(tape, both, both.elements() / 2);
    tape.doing = "activation";
    Tensor active = activation(tape, activation_of(p), std::move(gate));
    tape.doing = "gate times up";
    product = multiply(tape, std::move(up), std::move(active));
    both.free();
  } else {
    Tensor gate = run(tape, p, gate_role, x);
    if (p.liger_mlp) {  // LigerSiLUMulFunction keeps gate and up, and computes silu again in its backward
      Tensor up = run(tape, p, up_role, x);
      product = tape.make(gate.elements(), gate.size(), Component::transient);
      tape.record(product, {gate, up}, {gate, up}, {pass(0), gradient(1, up.bytes())});
    } else {
      tape.doing = "activation";
      Tensor active = activation(tape, activation_of(p), std::move(gate));
      Tensor up = run(tape, p, up_role, x);
      tape.doing = "gate times up";
      product = multiply(tape, std::move(active), std::move(up));
    }
  }
  Tensor out = run(tape, p, down_role, product);
  product.free();
  return out;
}

Tensor plain_mlp(Tape& tape, const LayerProgram& p, const Tensor& x, Role up_role, Role down_role) {
  Tensor up = run(tape, p, up_role, x);
  tape.doing = "activation";
  Tensor active = activation(tape, activation_of(p), std::move(up), p.train_norms);
  return run(tape, p, down_role, active);
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
  tape.record(sum, {x}, {bulk},
              {gradient(0, x.bytes()), weight_gradient(others * probe.weight_gradient_bytes())},
              probe.weight_gradient_bytes() > 0);
}

// A loop over experts, each with its share of the routed rows. transformers
// models/mixtral/modeling_mixtral.py MixtralSparseMoeBlock.
Tensor experts(Tape& tape, const LayerProgram& given, const Tensor& x) {
  const model::LayerGroup& g = *given.group;
  const double rows = given.batch * given.length;
  const auto count = static_cast<double>(g.experts);
  const double share = rows * static_cast<double>(g.experts_per_token) / count;
  LayerProgram p = given;
  for (LinearSpec& spec : p.linears) spec.copies = 1;
  if (p.has(Role::router)) {
    Tensor scores = run(tape, p, Role::router, x);
    Tensor probabilities = tape.make(scores.elements(), 4, Component::transient);
    tape.record(probabilities, {scores}, {probabilities}, {gradient(0, scores.bytes())});
  }
  const bool latent = p.has(Role::latent_in);
  Tensor routed = latent ? run(tape, p, Role::latent_in, x) : x;
  Tensor sum = tape.make(routed.elements(), x.size(), Component::transient);
  other_experts(tape, p, routed, share, count - 1, sum);
  Tensor last = one_expert(tape, p, routed, share);
  routed.free();
  tape.record(sum, {last}, {}, {gradient(0, last.bytes())});
  last.free();
  if (latent) sum = run(tape, p, Role::latent_out, sum);
  if (p.has(Role::shared_gate)) {
    sum = add(tape, std::move(sum), gated(tape, p, x, Role::shared_gate, Role::shared_up, Role::shared_down));
  } else if (p.has(Role::shared_down)) {
    sum = add(tape, std::move(sum), plain_mlp(tape, p, x, Role::shared_up, Role::shared_down));
  }
  return sum;
}

Tensor mlp(Tape& tape, const LayerProgram& p, const Tensor& x) {
  if (p.group->experts > 0) return experts(tape, p, x);
  if (unsloth_mlp_fits(p)) return unsloth_mlp(tape, p, x);
  if (p.group->gated) return gated(tape, p, x, Role::gate, Role::up, Role::down);
  return plain_mlp(tape, p, x, Role::up, Role::down);
}

bool has_mlp(const LayerProgram& p) { return p.has(Role::down) || p.group->experts > 0; }

Tensor parallel_layer(Tape& tape, const LayerProgram& p, const Tensor& x) {
  Tensor h = normalise_at(tape, p, NormPlace::before_attention, x);
  Tensor attended = self_attention(tape, p, h);
  attended = dropout(tape, std::move(attended), p.group->residual_dropout);
  Tensor before_mlp =
      find_norm(p, NormPlace::before_mlp) != nullptr ? normalise_at(tape, p, NormPlace::before_mlp, x) : h;
  Tensor mixed = mlp(tape, p, before_mlp);
  tape.doing = "residual";
  mixed = dropout(tape, std::move(mixed), p.group->residual_dropout);
  Tensor sum = add(tape, std::move(mixed), std::move(attended));
  return add(tape, std::move(sum), x);
}

Tensor branch(Tape& tape, const LayerProgram& p, Tensor out, NormPlace after, const Tensor& residual) {
  if (!p.post_norm) out = normalise_at(tape, p, after, std::move(out));
  tape.doing = "residual";
  out = dropout(tape, std::move(out), p.group->residual_dropout);
  if (p.group->scaled_branches) out = scale(tape, std::move(out));
  Tensor sum = add(tape, residual, std::move(out));
  return p.post_norm ? normalise_at(tape, p, after, std::move(sum)) : sum;
}

}  // namespace

Code code_of(const std::string& implementation) {
  if (implementation == "litgpt") return Code::litgpt;
  if (implementation == "torchtune") return Code::torchtune;
  if (implementation == "unsloth") return Code::unsloth;
  return Code::transformers;
}

Tensor run_layer(Tape& tape, const LayerProgram& p, const Tensor& x) {
  if (p.group->parallel) return parallel_layer(tape, p, x);
  Tensor residual = x;
  const bool attends = p.has(Role::o) || p.has(Role::q) || p.has(Role::qkv);
  if (attends || p.has(Role::ssm_in)) {
    Tensor h = normalise_at(tape, p, NormPlace::before_attention, x);
    Tensor out = p.has(Role::ssm_in) ? state_space(tape, p, h) : Tensor();
    if (attends) {
      Tensor attended = self_attention(tape, p, h);
      out = out ? add(tape, std::move(out), std::move(attended)) : std::move(attended);
    }
    h.free();
    residual = branch(tape, p, std::move(out), NormPlace::after_attention, x);
  }
  if (p.has(Role::cross_q) && p.cross_states != nullptr) {
    Tensor h = normalise_at(tape, p, NormPlace::before_cross, residual);
    Tensor out = cross_attention(tape, p, h);
    h.free();
    residual = add(tape, residual, std::move(out));
  }
  if (!has_mlp(p)) return residual;
  Tensor h = normalise_at(tape, p, NormPlace::before_mlp, residual);
  Tensor out = mlp(tape, p, h);
  h.free();
  return branch(tape, p, std::move(out), NormPlace::after_mlp, residual);
}

}  // namespace plimsoll::memory
