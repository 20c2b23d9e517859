#include "core/memory/layers/disentangled.h"

#include <utility>

namespace plimsoll::memory {

namespace {

using model::Role;

// torch.bmm, which keeps both.
Tensor product(Tape& tape, const Tensor& a, const Tensor& b, double elements) {
  Tensor out = tape.make(elements, a.size(), Component::transient);
  tape.record(out, {a, b}, {a, b}, {gradient(0, a.bytes()), gradient(1, b.bytes())});
  return out;
}

// query_proj or key_proj once more, of the distances, and what it gives for each sample anew. The gradient of its
// weight is added to the one that is there.
Tensor of_distances(Tape& tape, const LayerProgram& p, Role role, const Tensor& distances) {
  LinearSpec again = p.at(role);
  again.trainable = false;
  Tensor out = linear(tape, p.mode, distances, again);
  const double bytes = out.bytes();
  Tensor repeated = tape.make(out.elements() * p.batch, out.size(), Component::transient);
  const double weight = p.at(role).trainable ? again.in * again.out * again.size : 0;
  tape.record_unread(repeated, {out}, {gradient(0, bytes), temporary(weight)});
  return repeated;
}

// What each place takes of the scores against all distances: torch.gather, which keeps those and an index that is made
// in each layer.
Tensor gathered(Tape& tape, const LayerProgram& p, const Tensor& states, const Tensor& distances) {
  const double rows = p.batch * static_cast<double>(p.group->heads) * p.length;
  Tensor all = product(tape, states, distances, rows * static_cast<double>(p.group->relative_rows));
  Tensor index = tape.make(p.length * p.length, 8, Component::transient);
  Tensor out = tape.make(rows * p.length, all.size(), Component::transient);
  tape.record(out, {all}, {all, index}, {gradient(0, all.bytes())});
  return scale(tape, std::move(out));
}

Tensor relative_scores(Tape& tape, const LayerProgram& p, const Tensor& q, const Tensor& k) {
  tape.doing = "relative positions";
  const double rows = static_cast<double>(p.group->relative_rows);
  Tensor table =
      tape.make(rows * p.hidden, p.mode.autocast ? 4 : p.norm_size, Component::transient, p.train_norms);
  Tensor distances = dropout(tape, std::move(table), p.dropped(p.group->residual_dropout));
  Tensor queries = of_distances(tape, p, Role::q, distances);
  Tensor keys = of_distances(tape, p, Role::k, distances);
  // `score` begins as a number, so that its first sum is a new tensor.
  Tensor score = scale(tape, gathered(tape, p, q, keys));
  return add_in_place(tape, score, gathered(tape, p, k, queries));
}

}  // namespace

Tensor disentangled_attention(Tape& tape, const LayerProgram& p, const Tensor& h) {
  Tensor q = copy(tape, run_linear(tape, p, Role::q, h));
  Tensor k = copy(tape, run_linear(tape, p, Role::k, h));
  Tensor v = copy(tape, run_linear(tape, p, Role::v, h));
  tape.doing = "attention";
  const double elements = p.batch * static_cast<double>(p.group->heads) * p.length * p.length;
  Tensor scores = product(tape, q, scale(tape, k), elements);
  Tensor relative = relative_scores(tape, p, q, k);
  tape.doing = "attention";
  scores = add(tape, std::move(scores), relative);
  Tensor hidden_places = tape.make(p.batch * p.length * p.length, 1, Component::transient);
  Tensor masked = tape.make(elements, scores.size(), Component::transient);
  tape.record(masked, {scores}, {hidden_places}, {gradient(0, scores.bytes())});
  hidden_places.free();
  scores.free();
  Tensor wide = cast(tape, masked, p.mode.autocast ? 4 : masked.size());
  Tensor shares = tape.make(elements, wide.size(), Component::transient);
  tape.record(shares, {wide}, {shares}, {temporary(shares.bytes()), gradient(0, wide.bytes())});
  wide.free();
  shares = dropout(tape, std::move(shares), p.dropped(p.group->attention_dropout));
  Tensor narrow = cast(tape, shares, q.size());
  Tensor found = copy(tape, product(tape, narrow, v, q.elements()));
  narrow.free();
  for (Tensor* name : {&shares, &masked, &relative, &v, &k, &q}) name->free();
  return found;
}

}  // namespace plimsoll::memory
