#include <utility>

#include "core/memory/layers/linear.h"

namespace plimsoll::memory {

Tensor dora(Tape& tape, const Mode& mode, const Tensor& x, const Tensor& result, const LinearSpec& w) {
  const double weights = w.in * w.out;
  const int size = x.size(), product_size = mode.autocast ? 2 : w.adapter_size;
  Tensor dropped = dropout(tape, x, w.dropout);
  // lora_B(lora_A(identity)): what the product reads, the identity or its cast, is kept for lora_A's
  // gradient, which nobody asks for, until the function ends; and so are both weights.
  Tensor identity = tape.make(w.in * w.in, w.adapter_size, Component::transient);
  Tensor identity_cast = mode.autocast ? tape.make(w.in * w.in, 2, Component::transient) : identity;
  if (!tape.recording) identity_cast.free();
  Tensor product = tape.make(weights, product_size, Component::transient);
  identity.free();
  Tensor lora_weight = product_size == size ? product : tape.make(weights, size, Component::transient);
  product.free();
  const bool plain = w.storage == Storage::plain;
  Tensor unpacked = tape.make(plain ? 0 : weights, w.size, Component::transient);
  const bool own = plain && w.size == size;
  Tensor weight = tape.make(own ? 0 : weights, size, Component::transient);
  unpacked.free();
  {
    Tensor scaled = tape.make(weights, size, Component::transient);
    Tensor merged = tape.make(weights, size, Component::transient);
  }
  LinearSpec a{.in = w.in, .out = w.r, .size = w.adapter_size, .trainable = true};
  LinearSpec b{.in = w.r, .out = w.out, .size = w.adapter_size, .trainable = true};
  const Tensor lora_result = plain_linear(tape, mode, plain_linear(tape, mode, dropped, a), b);
  Tensor base = result;
  if (w.dropout_module) {  // a weight that is kept for the gradient of x, as it is no parameter
    Tensor read = mode.autocast ? cast(tape, dropped, 2) : dropped;
    const bool casts = mode.autocast && weight.size() == 4;
    Tensor weight_read = casts ? tape.make(weights, 2, Component::transient) : weight;
    base = tape.make(result.elements(), product_size, Component::transient);
    tape.record(base, {read}, {read.needs_grad() ? weight_read : Tensor()}, {gradient(0, read.bytes())});
  } else if (w.bias) {
    base = copy(tape, result);
  }
  base = scale_columns(tape, std::move(base), w.adapter_size);
  Tensor update = scale(tape, scale_columns(tape, lora_result, w.adapter_size));
  return add(tape, std::move(base), std::move(update));
}

}  // namespace plimsoll::memory
