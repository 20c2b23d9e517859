#include "core/memory/layers/delta_net.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace plimsoll::memory {

namespace {

using model::Role;

constexpr double chunk = 64;  // positions, in both implementations

struct DeltaSizes {
  double rows, heads, key_dim, value_dim, keys, values, chunks;
  explicit DeltaSizes(const LayerProgram& p)
      : rows(p.batch * p.length),
        heads(static_cast<double>(p.group->heads)),
        key_dim(static_cast<double>(p.group->head_dim)),
        value_dim(static_cast<double>(p.group->value_head_dim)),
        keys(rows * static_cast<double>(p.group->kv_heads) * key_dim),
        values(rows * heads * value_dim),
        chunks(p.batch * std::ceil(p.length / chunk)) {}
  double convolved() const { return 2 * keys + values; }
  double repeated_keys() const { return rows * heads * key_dim; }
  double each_head() const { return rows * heads; }
  /// A state a head at the end of each chunk.
  double states() const { return chunks * heads * key_dim * value_dim; }
};

struct DeltaParts {
  Tensor q, k, v, decay, beta;
};

Tensor fresh(Tape& tape, double elements, int size) {
  return tape.make(elements, size, Component::transient);
}

// The kernel keeps what goes in and computes the activation again.
Tensor convolve(Tape& tape, const LayerProgram& p, Tensor signal) {
  tape.doing = "convolution";
  Tensor out = fresh(tape, signal.elements(), signal.size());
  tape.record(out, {signal}, {signal}, {gradient(0, signal.bytes())}, p.train_norms);
  signal.free();
  return p.torch_kernels ? activation(tape, p.mode, model::Activation::silu, std::move(out)) : out;
}

Tensor sigmoid(Tape& tape, const Tensor& x) {
  Tensor out = fresh(tape, x.elements(), x.size());
  tape.record(out, {x}, {out}, {gradient(0, x.bytes())});
  return out;
}

// -exp(A) * softplus(a.float() + dt_bias)
Tensor decay_of(Tape& tape, Tensor a, bool trained) {
  Tensor biased = scale(tape, cast(tape, std::move(a), 4));
  Tensor soft = fresh(tape, biased.elements(), 4);
  tape.record(soft, {biased}, {biased}, {gradient(0, biased.bytes())});
  biased.free();
  Tensor out = fresh(tape, soft.elements(), 4);
  if (trained) {
    tape.record(out, {soft}, {soft}, {gradient(0, soft.bytes())}, true);
  } else {
    tape.record_unread(out, {soft}, {gradient(0, soft.bytes())});
  }
  return out;
}

// repeat_interleave: a copy for each value head, until the kernel knew fewer keys than values.
Tensor for_each_head(Tape& tape, const LayerProgram& p, Tensor keys, double elements) {
  if (keys.elements() == elements || !p.repeats_keys) return keys;
  Tensor out = fresh(tape, elements, keys.size());
  tape.record_unread(out, {keys}, {gradient(0, keys.bytes())});
  return out;
}

void record_gates(Tape& tape, const Tensor& out, const DeltaParts& in) {
  tape.record_unread(out, {in.decay, in.beta}, {gradient(0, in.decay.bytes()), gradient(1, in.beta.bytes())});
}

// ChunkGatedDeltaRuleFunction: normalised queries and keys, values laid out anew, sums of the decay, and the
// inverse of each chunk's triangle are kept; states and corrected values are computed again.
Tensor fused_rule(Tape& tape, const DeltaSizes& s, const DeltaParts& in) {
  const int size = in.q.size();
  Tensor q = fresh(tape, in.q.elements(), size), k = fresh(tape, in.k.elements(), size);
  Tensor v = fresh(tape, s.values, size);
  Tensor scales_and_sums = fresh(tape, 3 * s.each_head(), 4);
  Tensor inverse = fresh(tape, s.each_head() * chunk, size);
  Tensor w = fresh(tape, s.repeated_keys(), size), u = fresh(tape, s.values, size);
  Tensor states = fresh(tape, s.states(), size), corrected = fresh(tape, s.values, size);
  Tensor out = fresh(tape, s.values, size);
  // w, its gradient and the first gradients of q and k; of k again; u, corrected values and their gradient;
  // states and their gradients.
  const bool grouped = in.q.elements() < s.repeated_keys();
  const double own = grouped ? 3 * in.q.elements() : 2 * s.repeated_keys();
  const double again = (own + 3 * s.repeated_keys() + 3 * s.values + 2 * s.states()) * size;
  tape.record(out, {in.q, in.k, in.v}, {q, k, v, scales_and_sums, inverse, in.beta},
              {temporary(again), gradient(2, in.v.bytes()), end_temporary(), gradient(0, in.q.bytes()),
               gradient(1, in.k.bytes())});
  record_gates(tape, out, in);
  return out;
}

// torch_chunk_gated_delta_rule, in fp32: bytes a row and head, fitted to counts over seven pairs of sizes (worst
// 0.5 % of what is kept). Until 5.16 the triangle is inverted row by row, and each row's factors are kept.
Tensor torch_rule(Tape& tape, const LayerProgram& p, const DeltaSizes& s, const DeltaParts& in) {
  const double kv = s.key_dim * s.value_dim / chunk;
  const double kept = p.solves_triangles ? 32 * s.key_dim + 14 * s.value_dim + 1310 + 4 * kv
                                         : 26.5 * s.key_dim + 14 * s.value_dim + 7027 + 4 * kv;
  const double passing = p.solves_triangles ? 3.6 * s.key_dim + 9.6 * s.value_dim + 40 + kv
                                            : 0.4 * s.key_dim + 13 * s.value_dim + 0.3 * kv;
  const double backward = 17.4 * s.key_dim + 12 * s.value_dim + 300 - 2 * kv;
  const double size = in.q.size();
  Tensor all = fresh(tape, s.each_head() * (kept - size * s.value_dim) / 4, 4);
  Tensor more = fresh(tape, s.each_head() * passing / 4, 4);
  Tensor out = fresh(tape, s.values, in.q.size());
  const double results = in.q.bytes() + in.k.bytes() + in.v.bytes();
  tape.record(out, {in.q, in.k, in.v}, {all},
              {temporary(std::max(0.0, s.each_head() * backward - out.bytes() - results)),
               gradient(0, in.q.bytes()), gradient(1, in.k.bytes()), gradient(2, in.v.bytes())});
  record_gates(tape, out, in);
  return out;
}

// Over each head, times silu(gate): flash-linear-attention's, or Python that turns both to fp32.
Tensor gated_norm(Tape& tape, const LayerProgram& p, const DeltaSizes& s, Tensor x, Tensor gate) {
  tape.doing = "norm";
  if (p.torch_kernels || !p.fused_gate_norm) {
    const int size = x.size();
    Tensor normed = rms_norm(tape, std::move(x), s.value_dim, p.norm_size, p.train_norms, false);
    Tensor open = activation(tape, p.mode, model::Activation::silu, cast(tape, std::move(gate), 4));
    return cast(tape, multiply(tape, std::move(normed), std::move(open)), size);
  }
  Tensor scales = fresh(tape, s.each_head(), 4);
  Tensor out = fresh(tape, x.elements(), x.size());
  tape.record(out, {x, gate}, {x, gate, scales}, {gradient(0, x.bytes()), gradient(1, gate.bytes())},
              p.train_norms);
  return out;
}

}  // namespace

bool is_delta_net(const LayerProgram& p) {
  return p.group->attention == model::AttentionKind::linear_delta && p.has(Role::delta_beta);
}

Tensor delta_net(Tape& tape, const LayerProgram& p, const Tensor& h) {
  const DeltaSizes s(p);
  Tensor mixed = run_linear(tape, p, Role::qkv, h);
  const bool apart = p.has(Role::attention_gate);
  Tensor gate =
      apart ? run_linear(tape, p, Role::attention_gate, h) : copy(tape, slice(tape, mixed, s.values));
  Tensor b = run_linear(tape, p, Role::delta_beta, h);
  Tensor a =
      p.has(Role::delta_decay) ? run_linear(tape, p, Role::delta_decay, h) : slice(tape, b, s.each_head());
  if (!p.has(Role::delta_decay)) b = slice(tape, b, s.each_head());
  Tensor signal = apart ? mixed : copy(tape, slice(tape, mixed, s.convolved()));
  if (apart) mixed.free();
  Tensor convolved = convolve(tape, p, std::move(signal));
  tape.doing = "delta rule";
  DeltaParts parts;
  parts.beta = sigmoid(tape, b);
  parts.decay = decay_of(tape, std::move(a), p.train_norms);
  parts.q = for_each_head(tape, p, slice(tape, convolved, s.keys), s.repeated_keys());
  parts.k = for_each_head(tape, p, slice(tape, convolved, s.keys), s.repeated_keys());
  parts.v = slice(tape, convolved, s.values);
  Tensor found = p.torch_kernels ? torch_rule(tape, p, s, parts) : fused_rule(tape, s, parts);
  // The names of what went in stay until the module returns.
  return run_linear(tape, p, Role::o, gated_norm(tape, p, s, std::move(found), gate));
}

Tensor gate_attention(Tape& tape, Tensor attended, Tensor gate) {
  tape.doing = "gate";
  return multiply(tape, std::move(attended), sigmoid(tape, gate));
}

}  // namespace plimsoll::memory
