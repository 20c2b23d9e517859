#include "core/memory/layers/state_space.h"

#include <utility>

#include "core/memory/layers/torch_scan.h"

namespace plimsoll::memory {

namespace {

using model::Role;

// The kernel holds the output projection's weight itself: an adapter on it would be passed over, and a packed
// one cannot be read, so a run that has either calls the module instead.
bool fuses_output(const LinearSpec& out) {
  return out.storage == Storage::plain && out.r <= 0 && out.tuner == nullptr;
}

// dt and its running sum in fp32 (twice: softplus and cumsum), C times B within a chunk in fp32.
double scan_tables(const ScanSizes& s) { return 4 * (2 * s.rows * s.heads + s.rows * s.groups * s.chunk); }

Tensor mamba_2(Tape& tape, const LayerProgram& p, const Tensor& h) {
  const ScanSizes s(p);
  const LinearSpec& out_spec = p.at(Role::ssm_out);
  tape.doing = "in_proj";
  Tensor projected = linear(tape, p.mode, h, p.at(Role::ssm_in));
  tape.doing = "convolution and scan";
  const int size = projected.size();
  Tensor convolved = tape.make(s.rows * s.convolved(), size, Component::transient);
  Tensor tables = tape.make(scan_tables(s), 1, Component::transient);
  Tensor states = tape.make(s.states(), 4, Component::transient);
  Tensor passed = tape.make(s.states(), size, Component::transient);
  states.free();
  Tensor scanned = tape.make(s.rows * s.inner, size, Component::transient);
  Tensor gated = tape.make(s.rows * s.inner, size, Component::transient);
  Tensor deviation =
      tape.make(p.group->state_space.gated_norm ? s.rows * s.groups : 0, 4, Component::transient);
  passed.free();
  tables.free();
  convolved.free();
  // Backward: the convolution again and its gradient, the gate's output again, dt and its sums, C times B and
  // its gradient, states and their gradients in fp32 and then in 16 bits.
  const double again = 2 * s.rows * s.convolved() * size + s.rows * s.inner * size + 2 * scan_tables(s) +
                       s.states() * 2 * (4 + size);
  const bool trained = p.train_norms;  // the small parameters are trained with the norms, in full alone
  if (!fuses_output(out_spec)) {
    tape.record(gated, {projected}, {projected, scanned, deviation},
                {temporary(again), gradient(0, projected.bytes())}, trained);
    projected.free();
    scanned.free();
    tape.doing = "out_proj";
    return linear(tape, p.mode, gated, out_spec);
  }
  Tensor out = tape.make(s.rows * out_spec.out, size, Component::transient);
  const double weight = out_spec.trainable ? out_spec.in * out_spec.out * out_spec.size : 0;
  tape.record(
      out, {projected}, {projected, scanned, deviation},
      {temporary(again + s.rows * s.inner * size), gradient(0, projected.bytes()), weight_gradient(weight)},
      trained || weight > 0);
  return out;
}

// The scan's own checkpoints: for each channel two numbers a state, every 2048 positions, in fp32.
double scan_checkpoints(const LayerProgram& p, const ScanSizes& s) {
  return 2 * s.inner * s.state * p.batch * std::ceil(p.length / 2048);
}

// MambaInnerFn: everything but in_proj in one function, which computes convolution and step sizes again.
Tensor mamba_1_fused(Tape& tape, const LayerProgram& p, const Tensor& h) {
  const ScanSizes s(p);
  const LinearSpec &x_spec = p.at(Role::ssm_x), &step = p.at(Role::ssm_step), &out_spec = p.at(Role::ssm_out);
  tape.doing = "in_proj";
  Tensor projected = linear(tape, p.mode, h, p.at(Role::ssm_in));
  tape.doing = "convolution and scan";
  const int size = projected.size();
  const double wide = s.rows * s.inner;
  Tensor convolved = tape.make(wide, size, Component::transient);
  Tensor inputs = tape.make(s.rows * x_spec.out, size, Component::transient);
  Tensor delta = tape.make(wide, size, Component::transient);
  Tensor b_and_c = tape.make(2 * s.rows * s.state, size, Component::transient);
  Tensor scanned = tape.make(wide, size, Component::transient);
  Tensor checkpoints = tape.make(scan_checkpoints(p, s), 4, Component::transient);
  Tensor gated = tape.make(wide, size, Component::transient);
  Tensor out = tape.make(s.rows * out_spec.out, size, Component::transient);
  const auto trained_bytes = [](const LinearSpec& w) { return w.trainable ? w.in * w.out * w.size : 0; };
  const double weights = trained_bytes(x_spec) + trained_bytes(step) + trained_bytes(out_spec);
  // Backward: convolution and step sizes again, their gradients, the gated output again, fp32 gradients of B
  // and C.
  tape.record(out, {projected}, {projected, inputs, b_and_c, scanned, checkpoints},
              {temporary(6 * wide * size + 2 * s.rows * s.state * 4 + inputs.bytes()),
               gradient(0, projected.bytes()), weight_gradient(weights)},
              weights > 0);
  return out;
}

// Jamba: the same steps as modules of their own, with norms between.
Tensor mamba_1_in_parts(Tape& tape, const LayerProgram& p, const Tensor& h) {
  const ScanSizes s(p);
  const LinearSpec &x_spec = p.at(Role::ssm_x), &step_spec = p.at(Role::ssm_step);
  const double wide = s.rows * s.inner;
  tape.doing = "in_proj";
  Tensor projected = linear(tape, p.mode, h, p.at(Role::ssm_in));
  const int size = projected.size();
  Tensor gate = copy(tape, slice(tape, projected, wide));  // the scan wants it laid out by channel
  tape.doing = "convolution";
  Tensor signal = slice(tape, projected, wide);
  Tensor convolved = tape.make(wide, size, Component::transient);
  tape.record(convolved, {signal}, {signal}, {gradient(0, wide * size)}, p.train_norms);
  signal.free();
  projected.free();
  if (p.torch_kernels) convolved = activation(tape, p.mode, model::Activation::silu, std::move(convolved));
  tape.doing = "x_proj";
  Tensor inputs = linear(tape, p.mode, convolved, x_spec);
  const auto part = [&](double width) {
    Tensor own = slice(tape, inputs, s.rows * width);
    if (!p.group->state_space.normed_inputs) return own;
    return rms_norm(tape, std::move(own), width, p.norm_size, p.train_norms, false);
  };
  Tensor narrow = part(step_spec.in);
  Tensor b = copy(tape, part(s.state)), c = copy(tape, part(s.state));
  inputs.free();
  tape.doing = "dt_proj";
  Tensor delta = copy(tape, linear(tape, p.mode, narrow, step_spec));
  narrow.free();
  if (p.torch_kernels) {
    Tensor read = torch_selective_scan(
        tape, p, {std::move(convolved), std::move(delta), std::move(b), std::move(c), std::move(gate)});
    tape.doing = "out_proj";
    return linear(tape, p.mode, cast(tape, std::move(read), h.size()), p.at(Role::ssm_out));
  }
  tape.doing = "scan";
  Tensor laid_out = copy(tape, std::move(convolved));
  Tensor scanned = tape.make(wide, size, Component::transient);
  Tensor checkpoints = tape.make(scan_checkpoints(p, s), 4, Component::transient);
  Tensor both = tape.make(b.elements() + c.elements(), size, Component::transient);
  tape.record(both, {b, c}, {}, {gradient(0, b.bytes()), gradient(1, c.bytes())});
  b.free();
  c.free();
  Tensor out = tape.make(wide, size, Component::transient);
  tape.record(out, {laid_out, delta, gate, both}, {laid_out, delta, gate, both, scanned, checkpoints},
              {temporary(both.elements() * 4), gradient(0, wide * size), gradient(1, wide * size),
               gradient(2, wide * size), gradient(3, both.bytes())},
              p.train_norms);
  laid_out.free();
  delta.free();
  gate.free();
  both.free();
  scanned.free();
  tape.doing = "out_proj";
  return linear(tape, p.mode, out, p.at(Role::ssm_out));
}

}  // namespace

Tensor state_space(Tape& tape, const LayerProgram& p, const Tensor& h) {
  if (p.group->state_space.heads > 0)
    return p.torch_kernels ? torch_mamba_2(tape, p, h) : mamba_2(tape, p, h);
  const bool packed =
      p.at(Role::ssm_x).storage != Storage::plain || p.at(Role::ssm_out).storage != Storage::plain;
  if (p.torch_kernels || p.group->state_space.normed_inputs || packed || !fuses_output(p.at(Role::ssm_out)) ||
      !fuses_output(p.at(Role::ssm_x)))
    return mamba_1_in_parts(tape, p, h);
  return mamba_1_fused(tape, p, h);
}

}  // namespace plimsoll::memory
