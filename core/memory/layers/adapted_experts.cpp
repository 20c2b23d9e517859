#include "core/memory/layers/adapted_experts.h"

#include <utility>

namespace plimsoll::memory {

namespace {

Tensor product_of_factors(Tape& tape, const LayerProgram& p, const StackedWeight& w) {
  const int size = p.mode.autocast ? 2 : w.spec.adapter_size;
  const double factors = w.factor_in() + w.factor_out();
  Tensor casts = size < w.spec.adapter_size ? tape.cached(factors, size) : Tensor();
  Tensor product = tape.make(w.elements(), size, Component::transient);
  tape.record(product, {}, {casts},
              {temporary(factors * size), weight_gradient(factors * w.spec.adapter_size)}, true);
  return cast(tape, scale(tape, std::move(product)), w.spec.size);
}

}  // namespace

StackedWeight weight_of(const LayerProgram& p, model::Role role, double experts) {
  const LinearSpec& spec = p.at(role);
  return {spec.in, spec.out, experts, spec};
}

StackedWeight gate_up_of(const LayerProgram& p, double experts) {
  if (p.has(model::Role::gate_up)) return weight_of(p, model::Role::gate_up, experts);
  StackedWeight both = weight_of(p, model::Role::gate, experts);
  const LinearSpec& up = p.at(model::Role::up);
  both.out += up.out;
  both.spec.r += up.r;
  if (up.r > 0) both.spec.adapter_size = up.adapter_size;  // gate has none when only up is named
  return both;
}

Adapted enter(Tape& tape, const LayerProgram& p, const StackedWeight& w, bool folded) {
  tape.doing = "adapted experts";
  Adapted adapted;
  if (w.rank() == 0) return adapted;
  if (folded) {
    const double made = w.spec.adapter_size == w.spec.size ? 0 : w.factor_in() + w.factor_out();
    adapted.factors = tape.make(made, w.spec.size, Component::transient);
  } else {
    adapted.product = product_of_factors(tape, p, w);
  }
  Tensor tried = tape.make(w.elements(), w.spec.size, Component::transient);
  return adapted;
}

void ask(Tape& tape, const StackedWeight& w, Adapted& adapted) {
  tape.doing = "adapted experts";
  if (w.rank() == 0) return;
  adapted.weight = tape.make(w.elements(), w.spec.size, Component::transient);
  if (adapted.product) {
    tape.record_unread(adapted.weight, {adapted.product}, {pass(0)});
    return;
  }
  const double factors = w.factor_in() + w.factor_out();
  tape.record(adapted.weight, {}, {adapted.factors},
              {temporary(factors * w.spec.size), temporary(factors * w.spec.size),
               weight_gradient(factors * w.spec.adapter_size)},
              true);
}

}  // namespace plimsoll::memory
