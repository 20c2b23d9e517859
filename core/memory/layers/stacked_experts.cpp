#include "core/memory/layers/stacked_experts.h"

#include <algorithm>
#include <utility>

#include "core/memory/layers/adapted_experts.h"

namespace plimsoll::memory {

namespace {

using model::Role;

// input (pairs x in) times each pair's expert. Without torch's kernel (before Ampere) its stand-in makes the
// weights' gradient whether or not anybody wants it.
Tensor grouped_product(Tape& tape, const Tensor& given, const StackedWeight& w, const Tensor& adapted,
                       bool stand_in) {
  Tensor input = cast(tape, given, w.spec.size);
  const bool trained = w.spec.trainable;
  // A packed parameter is unpacked when it is asked for, and the product keeps it for the input's gradient.
  Tensor unpacked = w.spec.storage == Storage::plain || adapted
                        ? Tensor()
                        : tape.make(w.elements(), w.spec.size, Component::transient);
  const Tensor kept = trained || adapted || stand_in ? input : Tensor();
  if (input.needs_grad() || adapted || trained) tape.about_to_save();
  Tensor out = tape.make(input.elements() / w.in * w.out, w.spec.size, Component::transient);
  const double unwanted = stand_in && !trained && !adapted ? w.bytes() : 0;
  if (adapted) {
    tape.record(out, {input, adapted}, {kept, adapted},
                {gradient(0, input.bytes()), gradient(1, adapted.bytes())});
  } else {
    tape.record(out, {input}, {kept, unpacked},
                {gradient(0, input.bytes()), temporary(unwanted), weight_gradient(trained ? w.bytes() : 0)},
                trained);
  }
  return out;
}

// What each token's experts count, one number a pair: logits of all experts, their softmax (or sigmoid) in
// fp32, the best of them.
Tensor route(Tape& tape, const LayerProgram& p, const Tensor& x, double pairs) {
  Tensor logits;
  if (const LinearSpec& spec = p.at(Role::router); spec.stacked) {
    StackedWeight w = weight_of(p, Role::router, 1);
    if (p.group->router_in_fp32) w.spec.size = 4;
    Adapted adapted = enter(tape, p, w, false);  // a single pair of factors is not folded
    ask(tape, w, adapted);
    logits = grouped_product(tape, x, w, adapted.weight, false);
  } else {
    logits = run_linear(tape, p, Role::router, p.group->router_in_fp32 ? cast(tape, x, 4) : x);
  }
  const int logits_size = logits.size();
  Tensor probabilities = tape.make(logits.elements(), 4, Component::transient);
  tape.record(probabilities, {logits}, {probabilities}, {gradient(0, logits.bytes())});
  Tensor chosen = tape.make(pairs, 8, Component::transient);  // their numbers
  Tensor best = tape.make(pairs, 4, Component::transient);
  tape.record(best, {probabilities}, {chosen}, {gradient(0, probabilities.bytes())});
  Tensor shares = tape.make(pairs, 4, Component::transient);
  tape.record(shares, {best}, {best}, {gradient(0, best.bytes())});
  const model::RoutedType type = p.group->routed_type;
  if (type == model::RoutedType::fp32) return shares;
  return cast(tape, std::move(shares), type == model::RoutedType::of_logits ? logits_size : x.size());
}

// act(gate) * up on the halves of one tensor: chunk has one backward, which joins both gradients.
Tensor gate_times_up(Tape& tape, const LayerProgram& p, const Tensor& both) {
  const double half = both.elements() / 2;
  tape.doing = "gate times up";
  if (!p.group->gated) return activation(tape, p.mode, p.group->activation, both);
  if (p.group->activation == model::Activation::clamped_glu) return clamped_glu(tape, both);
  Tensor active = tape.make(half, both.size(), Component::transient);
  Tensor product = tape.make(half, both.size(), Component::transient);
  tape.record(
      product, {both}, {both, active},
      {temporary(active.bytes()), temporary(active.bytes()), end_temporary(), gradient(0, both.bytes())});
  return product;
}

}  // namespace

Tensor stacked_experts(Tape& tape, const LayerProgram& p, const Tensor& x, const Tensor& routed) {
  const model::LayerGroup& g = *p.group;
  const double rows = p.batch * p.length, count = static_cast<double>(g.experts);
  const double pairs = rows * static_cast<double>(g.experts_per_token);
  const double width = routed.elements() / rows;
  Tensor shares =
      p.has(Role::router) ? route(tape, p, x, pairs) : tape.make(pairs, x.size(), Component::transient);
  const StackedWeight first = g.gated ? gate_up_of(p, count) : weight_of(p, Role::up, count);
  const StackedWeight second = weight_of(p, Role::down, count);
  Adapted adapted_second = enter(tape, p, second, p.folded_factors);
  Adapted adapted_first = enter(tape, p, first, p.folded_factors);
  tape.doing = "tokens sorted by expert";
  Tensor numbers = tape.make(pairs, 8, Component::transient);
  Tensor order = tape.make(2 * pairs, 8, Component::transient);
  tape.about_to_save();
  Tensor gathered = tape.make(pairs * width, routed.size(), Component::transient);
  tape.record(gathered, {routed}, {order}, {gradient(0, routed.bytes())});
  ask(tape, first, adapted_first);
  tape.doing = "experts";
  const auto bias = [&](const StackedWeight& w) {  // a row a pair, by index
    return tape.make(w.spec.bias ? pairs * w.out : 0, w.spec.size, Component::transient);
  };
  Tensor first_bias = bias(first);
  Tensor both = grouped_product(tape, gathered, first, adapted_first.weight, p.grouped_stand_in);
  Tensor middle = gate_times_up(tape, p, both);
  both.free();
  ask(tape, second, adapted_second);
  tape.doing = "experts";
  Tensor second_bias = bias(second);
  first_bias.free();
  Tensor out = grouped_product(tape, middle, second, adapted_second.weight, p.grouped_stand_in);
  middle.free();
  tape.doing = "expert outputs times router weights";
  const int size = std::max(shares.size(), out.size());
  tape.about_to_save();
  Tensor weighed = tape.make(out.elements(), size, Component::transient);
  const double full = weighed.bytes();
  // Both products are there before the engine casts one and adds the other up; what was kept is gone by then
  // where hooks keep it (torch/csrc/autograd/engine.cpp validate_outputs).
  if (size == out.size()) {
    tape.record(weighed, {out, shares}, {out, shares},
                {temporary(full), gradient(0, out.bytes()), gradient(1, shares.bytes())});
  } else {
    const Step kept_until_then = tape.hooked ? end_temporary() : temporary(0);
    tape.record(weighed, {out, shares}, {out, shares},
                {temporary(full), temporary(full), kept_until_then, gradient(0, out.bytes()),
                 gradient(1, shares.bytes())});
  }
  Tensor back = tape.make(pairs, 8, Component::transient);
  tape.about_to_save();
  Tensor sorted = tape.make(weighed.elements(), size, Component::transient);
  tape.record(sorted, {weighed}, {back}, {gradient(0, full)});
  weighed.free();
  Tensor sum = tape.make(rows * width, size, Component::transient);
  tape.record_unread(sum, {sorted}, {gradient(0, full)});
  sorted.free();
  return cast(tape, std::move(sum), routed.size());
}

}  // namespace plimsoll::memory
