#include "core/memory/tape/ops.h"

#include <algorithm>
#include <utility>

namespace plimsoll::memory {

namespace {

Tensor like(Tape& tape, const Tensor& x, int size = 0) {
  return tape.make(x.elements(), size == 0 ? x.size() : size, tape.component_of(x));
}

}  // namespace

Tensor cast(Tape& tape, Tensor x, int size) {
  if (x.size() == size) return x;
  Tensor out = like(tape, x, size);
  tape.record_unread(out, {x}, {gradient(0, x.bytes())});
  x.free();
  return out;
}

Tensor multiply(Tape& tape, Tensor a, Tensor b) {
  Tensor out = like(tape, a, std::max(a.size(), b.size()));
  tape.record(out, {a, b}, {b.needs_grad() ? a : Tensor(), a.needs_grad() ? b : Tensor()},
              {gradient(0, a.bytes()), gradient(1, b.bytes())});
  a.free();
  b.free();
  return out;
}

// Gradients are cast and summed when both are there (torch/csrc/autograd/engine.cpp validate_outputs).
Tensor scale_columns(Tape& tape, Tensor x, int size) {
  Tensor out = like(tape, x, std::max(x.size(), size));
  const double wide = out.bytes();
  const bool is_cast = out.size() != x.size();
  if (!x.needs_grad()) {
    tape.record(out, {x}, {x}, {temporary(wide)}, true);
  } else if (is_cast) {
    tape.record(out, {x}, {x}, {temporary(2 * wide), gradient(0, x.bytes())}, true);
  } else {
    tape.record(out, {x}, {x}, {gradient(0, wide), temporary(wide)}, true);
  }
  x.free();
  return out;
}

Tensor add_in_place(Tape& tape, const Tensor& result, Tensor update) {
  Tensor out = tape.view(result, result.elements());
  const bool same = update.size() == result.size();
  tape.record_unread(out, {result, update}, {pass(0), same ? pass(1) : gradient(1, update.bytes())});
  update.free();
  return out;
}

Tensor scale(Tape& tape, Tensor x) {
  Tensor out = like(tape, x);
  tape.record_unread(out, {x}, {gradient(0, x.bytes())});
  x.free();
  return out;
}

Tensor add(Tape& tape, Tensor a, Tensor b) {
  const int size = std::max(a.size(), b.size());
  Tensor out = like(tape, a, size);
  tape.record_unread(out, {a, b},
                     {a.size() == size ? pass(0) : gradient(0, a.bytes()),
                      b.size() == size ? pass(1) : gradient(1, b.bytes())});
  a.free();
  b.free();
  return out;
}

Tensor copy(Tape& tape, Tensor x) {
  Tensor out = like(tape, x);
  tape.record_unread(out, {x}, {pass(0)});
  x.free();
  return out;
}

Tensor slice(Tape& tape, const Tensor& x, double elements) {
  Tensor out = tape.view(x, elements);
  tape.record_unread(out, {x}, {gradient(0, x.bytes())});
  return out;
}

namespace {

// The two activations with a power in them under autocast, whose list for fp32 has pow
// (aten/src/ATen/autocast_mode.h AT_FORALL_FP32): x is cast, and all that follows, the result too, is fp32.
Tensor wide_power(Tape& tape, model::Activation kind, Tensor x) {
  const double wide = x.elements() * 4;
  if (kind == model::Activation::squared_relu) {
    Tensor relu = like(tape, x), base = like(tape, x, 4), out = like(tape, x, 4);
    tape.record(out, {x}, {relu, base}, {temporary(3 * wide), end_temporary(), gradient(0, x.bytes())});
    x.free();
    return out;
  }
  // Without a graph each fp32 part dies when the next one is there.
  const bool kept = x.needs_grad();
  Tensor half = like(tape, x), base = kept ? like(tape, x, 4) : Tensor();
  Tensor tanh = kept ? like(tape, x, 4) : Tensor(), one_plus = like(tape, x, 4), out = like(tape, x, 4);
  tape.record(out, {x}, {half, base, tanh, one_plus},
              {temporary(2 * wide), end_temporary(), gradient(0, x.bytes())});
  x.free();
  return out;
}

}  // namespace

Tensor activation(Tape& tape, const Mode& mode, model::Activation kind, Tensor x, bool trainable) {
  using model::Activation;
  const bool has_power = kind == Activation::squared_relu || kind == Activation::gelu_new;
  if (has_power && mode.autocast && x.size() == 2) return wide_power(tape, kind, std::move(x));
  const double bytes = x.bytes();
  Tensor out = like(tape, x);
  if (kind == Activation::relu) {
    tape.record(out, {x}, {out}, {gradient(0, bytes)});
  } else if (kind == Activation::squared_relu) {  // relu(x) ** 2
    Tensor relu = like(tape, x);
    tape.record(out, {x}, {relu}, {temporary(2 * bytes), gradient(0, bytes)});
  } else if (kind == Activation::quick_gelu) {  // x * sigmoid(1.702 * x)
    Tensor sigmoid = like(tape, x);
    // Two gradients of the product beside the one that came; later statements hold less.
    tape.record(out, {x}, {x, sigmoid}, {temporary(bytes), gradient(0, bytes)});
  } else if (kind == Activation::gelu_new) {  // 0.5 * x * (1 + tanh(c * (x + 0.044715 * x ** 3)))
    Tensor half = like(tape, x), tanh = x.needs_grad() ? like(tape, x) : Tensor(), one_plus = like(tape, x);
    tape.record(out, {x}, {x, half, tanh, one_plus}, {temporary(bytes), gradient(0, bytes)});
  } else if (kind == Activation::bloom_gelu) {
    // transformers models/bloom/modeling_bloom.py bloom_gelu_forward, bloom_gelu_back: its statements'
    // results beside x, before the result takes their place, and beside x and the gradient.
    out.free();
    Tensor working = tape.make(4 * x.elements(), x.size(), Component::transient);
    working.free();
    out = like(tape, x);
    tape.record(out, {x}, {x}, {temporary(5 * bytes), end_temporary(), gradient(0, bytes)});
  } else if (kind == Activation::xielu) {
    // where(x > 0, a * x * x + b * x, (expm1(min(x, e)) - x) * c + b * x): transformers activations.py
    // XIELUActivation without its CUDA package. Scalars a and c are trained or not, x is kept for both.
    Tensor product = like(tape, x), first = like(tape, x), second = like(tape, x);
    Tensor smallest = like(tape, x), power = like(tape, x);
    smallest.free();
    Tensor mask = tape.make(x.elements(), 1, Component::transient);
    // Its scalars have no gradient of a size worth counting; the difference they multiply is kept for them.
    first.free();
    tape.record(out, {x}, {x, product, power, mask, trainable ? second : Tensor()},
                {temporary(3 * bytes), gradient(0, bytes)});
  } else {
    tape.record(out, {x}, {x}, {gradient(0, bytes)});
  }
  x.free();
  return out;
}

Tensor clamped_glu(Tape& tape, const Tensor& both) {
  const double half = both.elements() / 2;
  const auto make = [&] { return tape.make(half, both.size(), Component::transient); };
  Tensor gate = make(), up = make(), scaled = make(), sigmoid = make();
  scaled.free();
  Tensor glu = make(), up_plus_one = make(), out = make();
  tape.record(out, {both}, {both, gate, sigmoid, glu, up_plus_one},
              {temporary(half * both.size()), temporary(half * both.size()), end_temporary(),
               gradient(0, both.bytes())});
  return out;
}

Tensor dropout(Tape& tape, Tensor x, double p) {
  if (p <= 0) return x;
  Tensor out = like(tape, x);
  Tensor mask = tape.make(x.elements(), 1, Component::transient);
  tape.record(out, {x}, {mask}, {gradient(0, x.bytes())});
  x.free();
  return out;
}

namespace {

// rsqrt(h.pow(2).mean(-1) + epsilon), which keeps h and itself.
Tensor inverse_root(Tape& tape, const Tensor& h, double rows) {
  const double full = h.bytes();
  Tensor squared = like(tape, h);
  Tensor variance = tape.make(rows, 4, Component::transient);
  squared.free();
  // Backward of mean: one full tensor; of pow(2): x ** 1 and 2 * x are alive beside the result.
  tape.record(variance, {h}, {h}, {temporary(full), temporary(full), temporary(full), gradient(0, full)});
  Tensor inverse = tape.make(rows, 4, Component::transient);
  tape.record(inverse, {variance}, {inverse}, {gradient(0, rows * 4)});
  return inverse;
}

}  // namespace

Tensor rms_norm(Tape& tape, Tensor x, double width, int weight_size, bool trainable, bool fp32_product) {
  const int size = x.size();
  const double rows = x.elements() / width;
  const double full = x.elements() * 4;
  Tensor h = cast(tape, x, 4);
  Tensor inverse = inverse_root(tape, h, rows);
  Tensor normalised = like(tape, h);
  tape.record(normalised, {h, inverse}, {h, inverse},
              {gradient(0, full), temporary(full), gradient(1, rows * 4)});
  h = normalised;
  if (weight_size == 0) return cast(tape, std::move(h), size);
  if (!fp32_product) h = cast(tape, h, size);
  Tensor out = tape.make(h.elements(), fp32_product ? 4 : std::max(size, weight_size), Component::transient);
  tape.record(out, {h}, {trainable ? h : Tensor()},
              {gradient(0, h.bytes()), temporary(trainable ? out.bytes() : 0),
               weight_gradient(trainable ? width * weight_size : 0)},
              trainable);
  if (fp32_product) {
    normalised.free();
    h.free();
    out = cast(tape, std::move(out), size);
  }
  return out;
}

Tensor fused_rms_norm(Tape& tape, Tensor x, double width, bool trainable) {
  Tensor out = like(tape, x);
  Tensor inverse = tape.make(x.elements() / width, 4, Component::transient);
  tape.record(out, {x}, {x, inverse}, {pass(0), weight_gradient(trainable ? width * x.size() : 0)},
              trainable);
  return out;
}

Tensor plain_rms_norm(Tape& tape, Tensor x, double width, bool trainable) {
  const double rows = x.elements() / width;
  Tensor squared = like(tape, x);
  Tensor variance = tape.make(rows, x.size(), Component::transient);
  squared.free();
  tape.record(variance, {x}, {x}, {temporary(x.bytes()), gradient(0, x.bytes())});
  Tensor inverse = tape.make(rows, x.size(), Component::transient);
  tape.record(inverse, {variance}, {inverse}, {gradient(0, inverse.bytes())});
  Tensor normalised = like(tape, x);
  tape.record(normalised, {x, inverse}, {x, inverse},
              {gradient(0, x.bytes()), temporary(x.bytes()), gradient(1, inverse.bytes())});
  Tensor out = like(tape, x);
  tape.record(out, {normalised}, {trainable ? normalised : Tensor()},
              {gradient(0, x.bytes()), temporary(trainable ? x.bytes() : 0),
               weight_gradient(trainable ? width * x.size() : 0)},
              trainable);
  return out;
}

Tensor layer_norm(Tape& tape, const Mode& mode, Tensor x, double width, double trained) {
  Tensor h = mode.autocast ? cast(tape, x, 4) : x;
  const double rows = x.elements() / width;
  Tensor out = like(tape, h);
  Tensor statistics = tape.make(rows * 2, 4, Component::transient);
  tape.record(out, {h}, {h, statistics}, {gradient(0, h.bytes()), weight_gradient(trained)}, trained > 0);
  return out;
}

Tensor written_out_norm(Tape& tape, Tensor x, double width, int weight_size, bool trainable) {
  const int size = x.size();
  const double rows = x.elements() / width, full = x.elements() * 4;
  Tensor h = cast(tape, std::move(x), 4);
  Tensor mean = tape.make(rows, 4, Component::transient);
  Tensor first = like(tape, h);
  tape.record_unread(first, {h}, {pass(0)});
  Tensor squared = like(tape, h);
  Tensor variance = tape.make(rows, 4, Component::transient);
  squared.free();
  tape.record(variance, {first}, {first},
              {temporary(full), temporary(full), temporary(full), gradient(0, full)});
  first.free();
  Tensor second = like(tape, h);
  tape.record_unread(second, {h}, {pass(0)});
  h.free();
  Tensor inverse = tape.make(rows, 4, Component::transient);
  tape.record(inverse, {variance}, {inverse}, {gradient(0, rows * 4)});
  Tensor normalised = like(tape, second);
  tape.record(normalised, {second, inverse}, {second, inverse},
              {gradient(0, full), temporary(full), gradient(1, rows * 4)});
  second.free();
  Tensor out = tape.make(normalised.elements(), 4, Component::transient);
  tape.record(out, {normalised}, {trainable ? normalised : Tensor()},
              {gradient(0, full), temporary(trainable ? full : 0),
               weight_gradient(trainable ? width * weight_size : 0)},
              trainable);
  normalised.free();
  return cast(tape, std::move(out), size);
}

namespace {

// transformers models/t5/modeling_t5.py T5LayerNorm: x and its fp32 copy are both kept; the result takes the
// type of 16-bit weights before it meets them.
Tensor rms_norm_of_input(Tape& tape, Tensor x, double width, int weight_size, bool trainable) {
  const double rows = x.elements() / width, full = x.elements() * 4;
  Tensor inverse = inverse_root(tape, cast(tape, x, 4), rows);
  Tensor normalised = tape.make(x.elements(), 4, Component::transient);
  tape.record(
      normalised, {x, inverse}, {x, inverse},
      {temporary(x.size() == 4 ? 0 : full), gradient(0, x.bytes()), temporary(full), gradient(1, rows * 4)});
  x.free();
  Tensor h = cast(tape, std::move(normalised), weight_size);
  Tensor out = like(tape, h);
  tape.record(out, {h}, {trainable ? h : Tensor()},
              {gradient(0, h.bytes()), temporary(trainable ? out.bytes() : 0),
               weight_gradient(trainable ? width * weight_size : 0)},
              trainable);
  return out;
}

}  // namespace

Tensor any_layer_norm(Tape& tape, const Mode& mode, const model::Norm& norm, Tensor x, int weight_size,
                      bool trainable) {
  const auto width = static_cast<double>(norm.width);
  if (norm.kind == model::NormKind::rms_of_input) {
    return rms_norm_of_input(tape, std::move(x), width, weight_size, trainable);
  }
  if (norm.kind == model::NormKind::layer_written_out) {
    return written_out_norm(tape, std::move(x), width, weight_size, trainable);
  }
  const double trained = trainable ? (norm.bias ? 2 : 1) * width * weight_size : 0;
  if (norm.kind == model::NormKind::layer) return layer_norm(tape, mode, std::move(x), width, trained);
  if (norm.kind == model::NormKind::layer_in_autocast_type) {
    Tensor narrow = mode.autocast ? cast(tape, std::move(x), 2) : std::move(x);
    return layer_norm(tape, {}, std::move(narrow), width, trained);
  }
  const int size = x.size();
  Tensor wide = cast(tape, std::move(x), 4);
  return cast(tape, layer_norm(tape, mode, std::move(wide), width, trained), size);
}

Tensor rotate(Tape& tape, const Tensor& q, int table_size) {
  const int size = std::max(q.size(), table_size);
  Tensor plain = like(tape, q, size);
  Tensor halves = like(tape, q);
  Tensor turned = like(tape, q, size);
  halves.free();
  Tensor out = like(tape, q, size);
  // Backward: the gradient times sin, the two zero-filled halves of the concatenation, the gradient times
  // cos.
  tape.record(
      out, {q}, {},
      {temporary(q.elements() * size), temporary(q.bytes()), temporary(q.bytes()), gradient(0, q.bytes())});
  return out;
}

}  // namespace plimsoll::memory
