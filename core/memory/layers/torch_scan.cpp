#include "core/memory/layers/torch_scan.h"

#include <utility>

#include "core/memory/layers/state_space.h"

namespace plimsoll::memory {

namespace {

using model::Role;

// What an operation on x gives. `temporaries`: bytes of its backward beside the gradient.
Tensor of_one(Tape& tape, const Tensor& x, double elements, int size, bool keeps, double temporaries = 0) {
  Tensor out = tape.make(elements, size, Component::transient);
  if (keeps) {
    tape.record(out, {x}, {x}, {temporary(temporaries), gradient(0, x.bytes())});
  } else {
    tape.record_unread(out, {x}, {temporary(temporaries), gradient(0, x.bytes())});
  }
  return out;
}

// A product, which keeps both.
Tensor of_two(Tape& tape, const Tensor& a, const Tensor& b, double elements, int size,
              double temporaries = 0) {
  Tensor out = tape.make(elements, size, Component::transient);
  tape.record(out, {a, b}, {a, b}, {temporary(temporaries), gradient(0, a.bytes()), gradient(1, b.bytes())});
  return out;
}

// Keeps what it gives.
Tensor exponential(Tape& tape, const Tensor& x) {
  Tensor out = tape.make(x.elements(), 4, Component::transient);
  tape.record(out, {x}, {out}, {gradient(0, x.bytes())});
  return out;
}

// x times a number of each head and position, which needs a gradient: x is kept.
Tensor times_each_head(Tape& tape, const Tensor& x) {
  return of_one(tape, x, x.elements(), 4, true, x.elements() * 4);
}

// What one side of an einsum becomes: under autocast in 16 bits, and laid out anew.
Tensor operand(Tape& tape, const LayerProgram& p, const Tensor& x, bool copies) {
  Tensor narrow = cast(tape, x, p.mode.autocast ? 2 : x.size());
  return copies ? copy(tape, std::move(narrow)) : narrow;
}

struct Contraction {
  double wide = 0;        ///< numbers before they are summed
  double elements = 0;    ///< of the result
  bool laid_out = false;  ///< the left side is as the product wants it
};

// An einsum, or factors that are multiplied element by element and summed: both gradients are wide before they are.
Tensor contract(Tape& tape, const LayerProgram& p, const Tensor& a, const Tensor& b,
                const Contraction& size) {
  if (p.scans_by_einsum) {
    Tensor left = operand(tape, p, a, !size.laid_out), right = operand(tape, p, b, true);
    return of_two(tape, left, right, size.elements, left.size());
  }
  Tensor all = tape.make(size.wide, 4, Component::transient);
  return of_two(tape, a, b, size.elements, 4, 2 * all.bytes());
}

// exp(segment_sum(A)): for each pair of positions in a chunk what is left of the first at the second.
Tensor decay_between(Tape& tape, const Tensor& steps, double pairs) {
  const double wide = pairs * 4;
  Tensor masked = of_one(tape, steps, pairs, 4, false, wide);
  Tensor sums = of_one(tape, masked, pairs, 4, false, wide);
  Tensor lower = of_one(tape, sums, pairs, 4, false);
  masked.free();
  sums.free();
  return exponential(tape, lower);
}

struct Scanned {
  Tensor x, b, c, steps;  // laid out in chunks
  double pairs = 0;       // of positions in a chunk, for every head
};

// Within a chunk: C times B, times the decay, times x.
Tensor within_chunks(Tape& tape, const LayerProgram& p, const ScanSizes& s, const Scanned& in,
                     std::vector<Tensor>& names) {
  const double rows = s.padded_rows(), channels = rows * s.inner;
  Tensor decay = decay_between(tape, in.steps, in.pairs);
  Tensor scores = contract(tape, p, in.c, in.b, {in.pairs * s.state, in.pairs});
  Tensor weights = of_two(tape, scores, decay, in.pairs, 4, scores.size() == 4 ? 0 : in.pairs * 4);
  Tensor out = contract(tape, p, weights, in.x, {rows * s.chunk * s.inner, channels, true});
  for (Tensor* name : {&decay, &scores, &weights}) names.push_back(std::move(*name));
  return out;
}

// From chunk to chunk: the states at their ends, and what C reads of them.
Tensor between_chunks(Tape& tape, const LayerProgram& p, const ScanSizes& s, const Scanned& in,
                      std::vector<Tensor>& names) {
  const double channels = s.padded_rows() * s.inner, wide = channels * s.state;
  Tensor decayed = times_each_head(tape, in.b);
  Tensor states = contract(tape, p, decayed, in.x, {wide, s.states()});
  Tensor joined = copy(tape, std::move(states));
  Tensor passed = of_one(tape, joined, s.states(), joined.size(), true);
  joined.free();
  Tensor read = contract(tape, p, in.c, passed, {wide, channels});
  Tensor out = times_each_head(tape, read);
  for (Tensor* name : {&decayed, &read, &passed}) names.push_back(std::move(*name));
  return out;
}

// B or C of each group, for every head, and then in whole chunks.
Tensor for_heads(Tape& tape, const ScanSizes& s, const Tensor& convolved) {
  Tensor groups = cast(tape, slice(tape, convolved, s.rows * s.groups * s.state), 4);
  Tensor heads = of_one(tape, groups, s.rows * s.heads * s.state, 4, false);
  groups.free();
  return of_one(tape, heads, s.padded_rows() * s.heads * s.state, 4, false);
}

Tensor scan(Tape& tape, const LayerProgram& p, const ScanSizes& s, const Tensor& convolved, Tensor steps) {
  tape.doing = "scan";
  const double channels = s.padded_rows() * s.inner;
  Tensor x = cast(tape, slice(tape, convolved, s.rows * s.inner), 4);
  Scanned in;
  in.pairs = s.padded_rows() * s.chunk * s.heads;
  Tensor whole = of_one(tape, x, channels, 4, false);
  // D times x.
  Tensor residual = of_one(tape, whole, channels, 4, p.train_norms, p.train_norms ? channels * 4 : 0);
  whole.free();
  in.x = of_one(tape, times_each_head(tape, x), channels, 4, false);
  x.free();
  in.b = for_heads(tape, s, convolved);
  in.c = for_heads(tape, s, convolved);
  in.steps = std::move(steps);
  std::vector<Tensor> names;  // until this returns
  Tensor within = within_chunks(tape, p, s, in, names);
  Tensor between = between_chunks(tape, p, s, in, names);
  Tensor out = add(tape, add(tape, within, between), residual);
  free_in_order(names);
  return out;
}

}  // namespace

Tensor torch_selective_scan(Tape& tape, const LayerProgram& p, SelectiveScan in) {
  const ScanSizes s(p);
  const double wide = s.rows * s.inner, all = wide * s.state;
  const int size = in.x.size();
  tape.doing = "scan";
  Tensor steps = cast(tape, in.steps, p.mode.autocast ? 4 : size);  // softplus is in autocast's list for fp32
  Tensor decay = exponential(tape, of_one(tape, steps, all, 4, true, all * 4));
  Tensor written = of_two(tape, steps, in.b, all, 4, 2 * all * 4);  // dt times B
  Tensor added = of_two(tape, written, cast(tape, in.x, 4), all, 4, all * 4);
  // Position after position: each state is kept by the next one, and a copy in x's type by the product with C. A
  // gradient of one position is a tensor of zeros for all of them.
  Tensor states = tape.make(all, 4, Component::transient);
  Tensor copies = tape.make(size == 4 ? 0 : all, size, Component::transient);
  Tensor listed =
      tape.make(wide, size, Component::transient);  // what each position gave, until it is stacked
  Tensor stacked = tape.make(wide, size, Component::transient);
  tape.record(stacked, {decay, added, in.c}, {decay, states, copies, in.c},
              {temporary(all * 4), gradient(0, all * 4), gradient(1, all * 4), gradient(2, in.c.bytes())});
  Tensor past = of_one(tape, in.x, wide, size, p.train_norms);  // x times D
  Tensor out = add(tape, stacked, std::move(past));
  tape.doing = "gate";
  return multiply(tape, std::move(out),
                  activation(tape, p.mode, model::Activation::silu, std::move(in.gate)));
}

Tensor torch_mamba_2(Tape& tape, const LayerProgram& p, const Tensor& h) {
  const ScanSizes s(p);
  tape.doing = "in_proj";
  Tensor projected = linear(tape, p.mode, h, p.at(Role::ssm_in));
  const int size = projected.size();
  tape.doing = "convolution";
  Tensor signal = slice(tape, projected, s.rows * s.convolved());
  Tensor turned = tape.make(signal.elements(), size, Component::transient);
  tape.record(turned, {signal}, {signal}, {gradient(0, signal.bytes())}, p.train_norms);
  signal.free();
  Tensor convolved = activation(tape, p.mode, model::Activation::silu, std::move(turned));
  Tensor steps = cast(tape, slice(tape, projected, s.rows * s.heads), 4);
  Tensor scanned = scan(tape, p, s, convolved, std::move(steps));
  tape.doing = "gate";
  Tensor gate = slice(tape, projected, s.rows * s.inner);
  const bool normed = p.group->state_space.gated_norm;
  if (normed) gate = cast(tape, std::move(gate), 4);
  Tensor out = multiply(tape, scanned, activation(tape, p.mode, model::Activation::silu, std::move(gate)));
  if (normed) {
    out = rms_norm(tape, std::move(out), s.inner / s.groups, p.norm_size, p.train_norms, false);
  }
  tape.doing = "out_proj";
  return linear(tape, p.mode, cast(tape, std::move(out), h.size()), p.at(Role::ssm_out));
}

}  // namespace plimsoll::memory
