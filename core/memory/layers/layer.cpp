#include "core/memory/layers/layer.h"

#include <algorithm>
#include <utility>

#include "core/memory/layers/delta_net.h"
#include "core/memory/layers/disentangled.h"
#include "core/memory/layers/litgpt.h"
#include "core/memory/layers/mlp.h"
#include "core/memory/layers/state_space.h"
#include "core/memory/layers/unsloth.h"

namespace plimsoll::memory {

namespace {

// By role: what a reader of the timeline calls the module.
constexpr const char* role_names[role_count] = {"q_proj",         "k_proj",           "v_proj",
                                                "o_proj",         "qkv_proj",         "q_a_proj",
                                                "q_b_proj",       "kv_a_proj",        "kv_b_proj",
                                                "cross q",        "cross k",          "cross v",
                                                "cross o",        "gate_proj",        "up_proj",
                                                "gate_up_proj",   "down_proj",        "shared gate_proj",
                                                "shared up_proj", "shared down_proj", "shared expert gate",
                                                "router",         "fc1_latent_proj",  "fc2_latent_proj",
                                                "in_proj",        "x_proj",           "dt_proj",
                                                "out_proj",       "gate_proj",        "in_proj_b",
                                                "in_proj_a",      "lm_head",          "linear"};

}  // namespace

Tensor run_linear(Tape& tape, const LayerProgram& p, model::Role role, const Tensor& x) {
  tape.doing = role_names[static_cast<std::size_t>(role)];
  return linear(tape, p.mode, x, p.at(role));
}

namespace {

using model::Activation;
using model::NormPlace;
using model::Role;

const model::Norm* find_norm(const LayerProgram& p, NormPlace place) {
  for (const model::Norm& norm : p.group->norms) {
    if (norm.place == place) return &norm;
  }
  return nullptr;
}

Tensor normalise(Tape& tape, const LayerProgram& p, const model::Norm& norm, const Tensor& x) {
  tape.doing = "norm";
  const auto width = static_cast<double>(norm.width);
  const int size = norm.weight ? p.norm_size : 0;
  const bool trained = p.train_norms && !norm.frozen;
  if (norm.kind != model::NormKind::rms) {
    return any_layer_norm(tape, p.mode, norm, x, size, trained && norm.weight);
  }
  if (p.liger_norm) return fused_rms_norm(tape, x, width, trained);
  if (p.plain_rms_norm) return plain_rms_norm(tape, x, width, trained);
  const bool fp32_product = norm.fp32_weight_product || p.implementation->norm_product_in_fp32;
  return rms_norm(tape, x, width, size, trained, fp32_product);
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
  Tensor gate;   // of what attention finds
  Tensor fused;  // what they were copied from, whose name stays (BLOOM)
};

Heads project(Tape& tape, const LayerProgram& p, const Tensor& h) {
  if (unsloth_qkv_fits(p)) {
    std::array<Tensor, 3> made = unsloth_qkv(tape, p, h);
    return {std::move(made[0]), std::move(made[1]), std::move(made[2]), Tensor(), Tensor()};
  }
  const model::LayerGroup& g = *p.group;
  const double rows = p.batch * p.length;
  if (!p.has(Role::qkv)) {
    Tensor q = p.has(Role::q_a)
                   ? run_linear(tape, p, Role::q,
                                normalise_at(tape, p, NormPlace::q_a, run_linear(tape, p, Role::q_a, h)))
                   : run_linear(tape, p, Role::q, h);
    // Qwen3.5: queries and gate come from one projection, head by head.
    Tensor gate;
    const double queries = rows * static_cast<double>(g.heads * g.head_dim);
    if (g.attention_output_gate && q.elements() == 2 * queries) {
      gate = copy(tape, slice(tape, q, queries));
      q = slice(tape, q, queries);
    } else if (p.has(Role::attention_gate)) {
      gate = run_linear(tape, p, Role::attention_gate, h);
    }
    const double keys = rows * static_cast<double>(g.kv_heads * g.head_dim);
    // Gemma 4: late layers read the keys and values of an earlier one, and keys may serve as values.
    Tensor k =
        p.has(Role::k) ? run_linear(tape, p, Role::k, h) : tape.make(keys, q.size(), Component::transient);
    Tensor v = p.has(Role::v)   ? run_linear(tape, p, Role::v, h)
               : p.has(Role::k) ? copy(tape, k)
                                : tape.view(k, keys);
    return {std::move(q), std::move(k), std::move(v), std::move(gate), Tensor()};
  }
  const auto head = static_cast<double>(g.head_dim);
  if (p.has(Role::gate_up) && p.implementation->separate_projections) {  // never fused
    const LinearSpec& all = p.at(Role::qkv);
    const double queries = static_cast<double>(g.heads) * head, keys = static_cast<double>(g.kv_heads) * head;
    Tensor q = linear(tape, p.mode, h, part_of(all, queries, all.on_q));
    Tensor k = linear(tape, p.mode, h, part_of(all, keys, all.on_k));
    Tensor v = linear(tape, p.mode, h, part_of(all, keys, all.on_v));
    return {std::move(q), std::move(k), std::move(v), Tensor(), Tensor()};
  }
  Tensor fused = run_linear(tape, p, Role::qkv, h);
  Tensor q = slice(tape, fused, rows * static_cast<double>(g.heads) * head);
  Tensor k = slice(tape, fused, rows * static_cast<double>(g.kv_heads) * head);
  Tensor v = slice(tape, fused, rows * static_cast<double>(g.kv_heads) * head);
  if (!g.copied_heads) return {std::move(q), std::move(k), std::move(v), Tensor(), Tensor()};
  return {copy(tape, std::move(q)), copy(tape, std::move(k)), copy(tape, std::move(v)), Tensor(),
          std::move(fused)};
}

// DeepSeek: q and k, v come through narrow projections; k is joined of a shared rotary part and its own.
Heads project_latent(Tape& tape, const LayerProgram& p, const Tensor& h) {
  const model::LayerGroup& g = *p.group;
  const double rows = p.batch * p.length;
  const auto heads = static_cast<double>(g.heads);
  Tensor q;
  if (p.has(Role::q_a)) {
    Tensor narrow = normalise_at(tape, p, NormPlace::q_a, run_linear(tape, p, Role::q_a, h));
    q = run_linear(tape, p, Role::q_b, narrow);
  } else {
    q = run_linear(tape, p, Role::q, h);
  }
  Tensor shared = run_linear(tape, p, Role::kv_a, h);
  const double latent = p.at(Role::kv_b).in;
  Tensor narrow = normalise_at(tape, p, NormPlace::kv_a, slice(tape, shared, rows * latent));
  Tensor wide = run_linear(tape, p, Role::kv_b, narrow);
  Tensor v = slice(tape, wide, rows * heads * static_cast<double>(g.value_head_dim));
  Tensor k = tape.make(rows * heads * static_cast<double>(g.head_dim), q.size(), Component::transient);
  tape.record_unread(k, {wide, shared}, {gradient(0, wide.bytes()), gradient(1, shared.bytes())});
  Tensor turned = cast(tape, copy(tape, q), h.size());  // torch.cat with what the tables turned
  return {std::move(turned), std::move(k), std::move(v), Tensor(), Tensor()};
}

void turn(Tape& tape, const LayerProgram& p, const Tensor& h, Heads& heads) {
  if (p.group->rotary_share <= 0 || p.group->attention == model::AttentionKind::latent) return;
  tape.doing = "rotary positions";
  if (p.liger_rotary && p.copies_slices && p.has(Role::qkv))  // in place, but of slices in copies
    for (Tensor* one : {&heads.q, &heads.k}) *one = copy(tape, std::move(*one));
  if (p.liger_rotary) return;
  if (p.group->rotary_casts_first) {  // apply_rotary_pos_emb_vision
    const int size = heads.q.size();
    Tensor q = cast(tape, heads.q, 4), k = cast(tape, heads.k, 4);
    q = rotate(tape, q, 4);
    k = rotate(tape, k, 4);
    heads.q = cast(tape, std::move(q), size);
    heads.k = cast(tape, std::move(k), size);
    return;
  }
  // torchtune, too, rotates in fp32 and casts back.
  const bool wide = p.implementation->rotary_in_fp32 || p.group->rotary_in_fp32;
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
  const bool own = g.scores == model::Scores::own_type || g.scores == model::Scores::own_type_cast_late;
  shape.fp32_softmax = !own || p.mode.autocast;
  shape.sinks = g.scores == model::Scores::with_sinks;
  shape.cast_late = g.scores == model::Scores::own_type_cast_late;
  shape.cast_to_query = g.scores == model::Scores::fp32_softmax;
  shape.scores_in_fp32 = g.scores == model::Scores::fp32;
  shape.soft_capped = g.soft_capped;
  shape.converted_mask = p.attention.converted_mask && !g.position_bias;
  if (g.position_bias && p.attention.kernel == AttentionKernel::efficient) {
    shape.bias_samples = p.attention.converted_mask ? p.batch : 1;
    shape.bias_size = p.norm_size;
    shape.bias_gradient = p.train_norms;
  }
  shape.bf16 = p.bf16;
  shape.dropout = p.dropped(g.attention_dropout);
  shape.frame = p.holds_weights ? p.frame : nullptr;
  // Each window of a tower is attended to apart (models/qwen2_5_vl Qwen2_5_VLVisionAttention.forward).
  const bool apart = g.attention == model::AttentionKind::bidirectional && g.window > 0;
  if (apart && p.attention.kernel == AttentionKernel::eager)
    shape.key_length = std::min(p.length, static_cast<double>(g.window));
  if (p.prefix > 0) shape.key_length = p.length + p.prefix;
  return shape;
}

// PEFT src/peft/tuners/adaption_prompt/layer.py: the queries, projected once more, attend to the adapter's
// tokens with a softmax in fp32; a trained gate scales what they find.
Tensor adaption_prompt(Tape& tape, const LayerProgram& p, const Tensor& h, Tensor out) {
  const double rows = p.batch * p.length, heads = static_cast<double>(p.group->heads);
  const bool fused =
      model::find(*p.group, Role::q) == nullptr;  // GPT-2 has its queries beside keys and values
  Tensor all = run_linear(tape, p, fused ? Role::qkv : Role::q, h);
  if (fused) all = slice(tape, all, out.elements());
  Tensor q = rotate(tape, all, h.size());
  all.free();
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
  const int own = p.at(fused ? Role::qkv : Role::q).size;  // of the base, whatever its stream is
  tape.record(gated, {found}, {found},
              {gradient(0, found.bytes()), weight_gradient(p.adaption * p.hidden * own)}, true);
  found.free();
  return add(tape, std::move(out), std::move(gated));
}

// LFM2: gate times signal, a short convolution over padded rows, gate times that (transformers models/lfm2
// Lfm2ShortConv.slow_forward).
Tensor short_convolution(Tape& tape, const LayerProgram& p, const Tensor& h) {
  Tensor all = run_linear(tape, p, Role::qkv, h);
  tape.doing = "convolution";
  const double wide = all.elements() / 3;
  Tensor signal = multiply(tape, slice(tape, all, wide), slice(tape, all, wide));
  Tensor mixed = tape.make(signal.elements(), signal.size(), Component::transient);
  tape.record(mixed, {signal}, {signal}, {gradient(0, signal.bytes())}, p.train_norms);
  signal.free();
  Tensor out = multiply(tape, slice(tape, all, wide), std::move(mixed));
  all.free();
  return run_linear(tape, p, Role::o, copy(tape, std::move(out)));
}

// `stream_size`: of what flows between the layers, and so of the mask.
Tensor self_attention(Tape& tape, const LayerProgram& p, const Tensor& h, int stream_size) {
  if (p.group->attention == model::AttentionKind::short_convolution) return short_convolution(tape, p, h);
  if (is_delta_net(p)) return delta_net(tape, p, h);
  if (p.group->relative_rows > 0) return run_linear(tape, p, Role::o, disentangled_attention(tape, p, h));
  const bool latent = p.group->attention == model::AttentionKind::latent;
  if (p.implementation->attends_in_one_place && !latent) {
    Tensor out = litgpt_attention(tape, p, shape_of(p), h);
    Tensor projected = run_linear(tape, p, Role::o, out);
    return p.adaption > 0 ? adaption_prompt(tape, p, h, std::move(projected)) : projected;
  }
  Heads heads = latent ? project_latent(tape, p, h) : project(tape, p, h);
  heads.q = normalise_at(tape, p, NormPlace::q, std::move(heads.q));
  heads.k = normalise_at(tape, p, NormPlace::k, std::move(heads.k));
  turn(tape, p, h, heads);
  tape.doing = "attention";
  heads.k = with_prefix(tape, p, heads.k);
  heads.v = with_prefix(tape, p, heads.v);
  if (p.keep_kv && p.kv != nullptr) {
    p.kv->push_back(tape.make(heads.k.elements() + heads.v.elements(), heads.k.size(), Component::kv_cache));
  }
  AttentionShape shape = shape_of(p);
  const bool masked = p.group->attention != model::AttentionKind::bidirectional && !p.group->position_bias;
  if (masked) shape.mask_size = stream_size;
  // matmul lays out anew the heads of several samples that lie between others, and keeps that; the name stays.
  const bool sliced = p.attention.kernel == AttentionKernel::eager && p.has(Role::qkv) &&
                      !p.group->copied_heads && p.group->rotary_share > 0 && p.batch > 1 &&
                      p.implementation->transformers &&
                      p.group->attention != model::AttentionKind::bidirectional;
  Tensor named = heads.v;
  if (sliced) heads.v = copy(tape, heads.v);
  if (!sliced) named.free();
  std::vector<Tensor> scores;  // until this returns
  if (p.group->copied_heads) shape.scores = &scores;
  Tensor out = attend(tape, p.mode, p.attention.kernel, shape, heads.q, heads.k, heads.v);
  if (p.output_copy) out = copy(tape, std::move(out));
  if (heads.gate) out = gate_attention(tape, std::move(out), std::move(heads.gate));
  Tensor projected =
      unsloth_qkv_fits(p) ? unsloth_linear(tape, out, p.at(Role::o)) : run_linear(tape, p, Role::o, out);
  free_in_order(scores);
  named.free();
  if (p.adaption > 0) return adaption_prompt(tape, p, h, std::move(projected));
  return projected;
}

// Keys and values come from other states: an encoder's, or an image's.
Tensor cross_attention(Tape& tape, const LayerProgram& p, const Tensor& h) {
  Tensor q = run_linear(tape, p, Role::cross_q, h);
  Tensor k = run_linear(tape, p, Role::cross_k, *p.cross_states);
  Tensor v = run_linear(tape, p, Role::cross_v, *p.cross_states);
  q = normalise_at(tape, p, NormPlace::q, std::move(q));
  k = normalise_at(tape, p, NormPlace::k, std::move(k));
  if (p.keep_kv && p.kv != nullptr)
    p.kv->push_back(tape.make(k.elements() + v.elements(), k.size(), Component::kv_cache));
  AttentionShape shape = shape_of(p);
  shape.key_length = p.cross_length;
  shape.converted_mask = p.cross_attention.converted_mask && !p.group->position_bias;
  // T5's zeros are one tensor for all layers; with the mask of padded rows in them each makes its own.
  shape.bias_samples = p.group->position_bias && p.cross_attention.converted_mask ? p.batch : 0;
  shape.bias_size = q.size();
  shape.bias_gradient = false;
  Tensor out =
      attend(tape, p.mode, p.cross_attention.kernel, shape, std::move(q), std::move(k), std::move(v));
  if (p.output_copy) out = copy(tape, std::move(out));
  return run_linear(tape, p, Role::cross_o, out);
}

bool has_mlp(const LayerProgram& p) { return p.has(Role::down) || p.group->experts > 0; }

Tensor parallel_layer(Tape& tape, const LayerProgram& p, const Tensor& x) {
  Tensor h = normalise_at(tape, p, NormPlace::before_attention, x);
  Tensor attended = self_attention(tape, p, h, x.size());
  attended = dropout(tape, std::move(attended), p.dropped(p.group->residual_dropout));
  Tensor before_mlp =
      find_norm(p, NormPlace::before_mlp) != nullptr ? normalise_at(tape, p, NormPlace::before_mlp, x) : h;
  Tensor mixed = mlp(tape, p, before_mlp);
  tape.doing = "residual";
  mixed = dropout(tape, std::move(mixed), p.dropped(p.group->residual_dropout));
  Tensor sum = add(tape, std::move(mixed), std::move(attended));
  return add(tape, std::move(sum), x);
}

Tensor branch(Tape& tape, const LayerProgram& p, Tensor out, NormPlace after, const Tensor& residual) {
  if (!p.group->post_norm) out = normalise_at(tape, p, after, std::move(out));
  tape.doing = "residual";
  const bool undropped = after == NormPlace::after_attention && p.group->attends_undropped;
  out = dropout(tape, std::move(out), undropped ? 0 : p.dropped(p.group->residual_dropout));
  if (p.group->scaled_branches) out = scale(tape, std::move(out));
  Tensor sum = add(tape, residual, std::move(out));
  return p.group->post_norm ? normalise_at(tape, p, after, std::move(sum)) : sum;
}

}  // namespace

// As a cache hands them over; the gradient of the sequence's is a part of both's.
Tensor with_prefix(Tape& tape, const LayerProgram& p, const Tensor& states) {
  if (p.prefix == 0) return states;
  const double elements = states.elements() / p.length * (p.length + p.prefix);
  Tensor out = tape.make(elements, states.size(), Component::transient, true);
  tape.record_unread(out, {states}, {pass(0)});
  return out;
}

namespace {

Tensor serial_layer(Tape& tape, const LayerProgram& p, const Tensor& x) {
  Tensor residual = x;
  std::vector<Tensor> names;
  const bool attends = p.has(Role::o) || p.has(Role::q) || p.has(Role::qkv);
  if (attends || p.has(Role::ssm_in)) {
    Tensor h = normalise_at(tape, p, NormPlace::before_attention, x);
    Tensor out = p.has(Role::ssm_in) ? state_space(tape, p, h) : Tensor();
    if (attends) {
      Tensor attended = self_attention(tape, p, h, x.size());
      out = out ? add(tape, std::move(out), std::move(attended)) : std::move(attended);
    }
    if (p.group->keeps_names) names = {h, out};
    h.free();
    residual = branch(tape, p, std::move(out), NormPlace::after_attention, x);
  }
  if (p.has(Role::cross_q) && p.cross_states != nullptr) {
    Tensor h = normalise_at(tape, p, NormPlace::before_cross, residual);
    Tensor out = cross_attention(tape, p, h);
    h.free();
    residual = branch(tape, p, std::move(out), NormPlace::after_cross, residual);
  }
  if (!has_mlp(p)) return residual;
  Tensor h = normalise_at(tape, p, NormPlace::before_mlp, residual);
  Tensor out = mlp(tape, p, h);
  h.free();
  Tensor made = branch(tape, p, std::move(out), NormPlace::after_mlp, residual);
  free_in_order(names);
  return made;
}

}  // namespace

Tensor run_layer(Tape& tape, const LayerProgram& p, const Tensor& x) {
  Tensor out = p.group->parallel ? parallel_layer(tape, p, x) : serial_layer(tape, p, x);
  if (p.frame != nullptr && !p.keeps_frame) free_in_order(*p.frame);
  return out;
}

}  // namespace plimsoll::memory
