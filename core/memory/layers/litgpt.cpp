#include "core/memory/layers/litgpt.h"

#include <utility>

namespace plimsoll::memory {

namespace {

using model::Role;

// q, k and v of any network are one linear here; adapters on some of them share x, with one A matrix each.
LinearSpec fused_projection(const LayerProgram& p) {
  if (p.has(Role::qkv)) return p.at(Role::qkv);
  LinearSpec fused = p.at(Role::q);
  fused.r = 0;
  fused.parts = 0;
  fused.adapter_out = 0;
  fused.out = 0;
  for (Role role : {Role::q, Role::k, Role::v}) {
    const LinearSpec& part = p.at(role);
    fused.out += part.out;
    if (part.r == 0) continue;
    fused.r = part.r;
    fused.adapter_size = part.adapter_size;
    fused.dropout = part.dropout;
    fused.parts += 1;
    fused.adapter_out += part.out;
  }
  return fused;
}

// F.linear by all A matrices at once, conv1d by the B matrices, zeros for what has no adapter. index_copy
// keeps its source for the shape of a gradient (tools/autograd/derivatives.yaml: expand_as(source)).
Tensor project_fused(Tape& tape, const LayerProgram& p, const Tensor& h) {
  const LinearSpec fused = fused_projection(p);
  LinearSpec base = fused;
  base.r = 0;
  Tensor pretrained = linear(tape, p.mode, h, base);
  if (fused.r == 0) return pretrained;
  const double rows = h.elements() / fused.in;
  const LinearSpec a{
      .in = fused.in, .out = fused.r * fused.parts, .size = fused.adapter_size, .trainable = true};
  Tensor dropped = dropout(tape, h, fused.dropout);
  Tensor low = linear(tape, p.mode, dropped, a);
  dropped.free();
  const double weights = adapted(fused) * fused.r * fused.adapter_size;
  Tensor high = tape.make(rows * adapted(fused), low.size(), Component::transient);
  tape.record(high, {low}, {low}, {weight_gradient(weights), gradient(0, low.bytes())}, true);
  low.free();
  if (adapted(fused) < fused.out) {
    Tensor padded = tape.make(rows * fused.out, high.size(), Component::transient);
    tape.record(padded, {high}, {high}, {gradient(0, high.bytes())});
    high = std::move(padded);
  }
  return add(tape, std::move(pretrained), scale(tape, std::move(high)));
}

// x * cos + rotated * sin in the type of the tables (fp32), back to x's type, then torch.cat with the part
// that is not rotated: a copy even when that part is empty.
Tensor turn(Tape& tape, const Tensor& x) { return copy(tape, cast(tape, rotate(tape, x, 4), x.size())); }

Tensor repeated(Tape& tape, const Tensor& x, double times) {
  Tensor out = tape.make(x.elements() * times, x.size(), Component::transient);
  tape.record(out, {x}, {}, {gradient(0, x.bytes())});
  return out;
}

}  // namespace

Tensor litgpt_attention(Tape& tape, const LayerProgram& p, AttentionShape shape, const Tensor& h) {
  const double rows = p.batch * p.length;
  Tensor fused = project_fused(tape, p, h);
  Tensor q = slice(tape, fused, rows * shape.heads * shape.head_dim);
  Tensor k = slice(tape, fused, rows * shape.kv_heads * shape.head_dim);
  Tensor v = slice(tape, fused, rows * shape.kv_heads * shape.value_head_dim);
  // Heads of one group lie beside their k and v: with several groups nothing of this can stay a view.
  const double times = shape.heads / shape.kv_heads;
  if (times > 1 && shape.kv_heads > 1) {
    q = copy(tape, q);
    k = repeated(tape, k, times);
    v = repeated(tape, v, times);
  } else if (times > 1) {
    k = repeated(tape, k, times);  // one head, expanded: rotation and torch.cat write it out; v stays a view
  }
  fused.free();
  if (p.group->rotary_share > 0) {
    q = turn(tape, q);
    k = turn(tape, k);
  }
  k = with_prefix(tape, p, k);
  v = with_prefix(tape, p, v);
  shape.repeat_kv = false;
  return attend(tape, p.mode, p.attention.kernel, shape, std::move(q), std::move(k), std::move(v));
}

}  // namespace plimsoll::memory
