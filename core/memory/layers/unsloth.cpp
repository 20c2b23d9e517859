#include "core/memory/layers/unsloth.h"

#include <utility>

namespace plimsoll::memory {

namespace {

using model::Role;

bool fused(const LayerProgram& p, std::initializer_list<Role> roles) {
  if (!p.implementation->patched) return false;
  for (Role role : roles) {
    if (!p.has(role)) return false;
    const LinearSpec& spec = p.at(role);
    if (!spec.fused || spec.r == 0 || spec.tuner != nullptr) return false;
  }
  return true;
}

// The forward unpacks a 4-bit weight into one buffer for all layers; the backward into a new tensor.
double unpacked(const LinearSpec& w) {
  const double weights = w.in * w.out;
  return w.storage == Storage::four_bit ? weights * 2 + absmax_bytes(weights) : 0;
}

double adapter_bytes(const LinearSpec& w) { return w.r * (w.in + w.out) * w.adapter_size; }

// 16-bit copies of A and B live as long as the function runs.
double adapter_casts(const LinearSpec& w) { return w.adapter_size == 4 ? w.r * (w.in + w.out) * 2 : 0; }

Tensor product(Tape& tape, const Tensor& x, const LinearSpec& w) {
  const double rows = x.elements() / w.in;
  Tensor out = tape.make(rows * w.out, x.size(), Component::transient);
  Tensor low = tape.make(rows * w.r + adapter_casts(w) / 2, 2, Component::transient);
  return out;
}

}  // namespace

bool unsloth_qkv_fits(const LayerProgram& p) {
  return !p.group->attention_output_gate && fused(p, {Role::q, Role::k, Role::v, Role::o});
}

bool unsloth_mlp_fits(const LayerProgram& p) {
  return p.group->gated && p.group->experts == 0 && fused(p, {Role::gate, Role::up, Role::down});
}

std::array<Tensor, 3> unsloth_qkv(Tape& tape, const LayerProgram& p, const Tensor& h) {
  const LinearSpec &wq = p.at(Role::q), &wk = p.at(Role::k), &wv = p.at(Role::v);
  Tensor q = product(tape, h, wq);
  Tensor k = product(tape, h, wk);
  Tensor v = product(tape, h, wv);
  tape.record(q, {h}, {h}, {temporary(unpacked(wq)), weight_gradient(adapter_bytes(wq))}, true);
  tape.record(k, {h}, {}, {temporary(unpacked(wk)), weight_gradient(adapter_bytes(wk))}, true);
  tape.record(v, {h}, {h}, {temporary(unpacked(wv)), weight_gradient(adapter_bytes(wv)), reuse(0)}, true);
  return {std::move(q), std::move(k), std::move(v)};
}

Tensor unsloth_mlp(Tape& tape, const LayerProgram& p, const Tensor& x) {
  const LinearSpec &wg = p.at(Role::gate), &wu = p.at(Role::up), &wd = p.at(Role::down);
  Tensor gate = product(tape, x, wg);
  Tensor up = product(tape, x, wu);
  Tensor active = tape.make(gate.elements(), x.size(), Component::transient);
  Tensor out = product(tape, active, wd);
  active.free();
  const double adapters = adapter_bytes(wg) + adapter_bytes(wu) + adapter_bytes(wd);
  const double casts = adapter_casts(wg) + adapter_casts(wu) + adapter_casts(wd);
  tape.record(out, {x}, {x, gate, up},
              {temporary(gate.bytes()), temporary(casts), weight_gradient(adapters), temporary(unpacked(wu)),
               reuse(0)},
              true);
  return out;
}

Tensor unsloth_linear(Tape& tape, const Tensor& x, const LinearSpec& w) {
  Tensor out = product(tape, x, w);
  tape.record(out, {x}, {x},
              {temporary(adapter_casts(w)), weight_gradient(adapter_bytes(w)), temporary(unpacked(w)),
               gradient(0, x.bytes())},
              true);
  return out;
}

}  // namespace plimsoll::memory
