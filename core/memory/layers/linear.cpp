#include "core/memory/layers/linear.h"

#include <utility>

#include "core/memory/layers/tuner_steps.h"

namespace plimsoll::memory {

Tensor plain_linear(Tape& tape, const Mode& mode, Tensor x, const LinearSpec& w) {
  const double weights = w.in * w.out * w.copies;
  const double rows = x.elements() / w.in;
  Tensor input = mode.autocast ? cast(tape, x, 2) : x;
  const bool weight_is_cast = mode.autocast && w.size == 4;
  Tensor weight_cast;
  if (weight_is_cast) {
    // Autocast caches the cast of a leaf that requires a gradient until its context ends; any other cast dies
    // with its last user.
    weight_cast = w.trainable ? tape.cached(weights, 2) : tape.make(weights, 2, Component::autocast);
    // A node of its own: the fp32 gradient is made when what the product kept, and its own gradient, are gone.
    if (w.trainable) tape.record_unread(weight_cast, {}, {weight_gradient(weights * w.size)}, true);
  }
  if (input.needs_grad() || w.trainable) tape.about_to_save();
  Tensor out = tape.make(rows * w.out, input.size(), Component::transient);
  const double bias = w.bias ? w.out * w.copies : 0;
  const double gradient_own = w.trainable ? ((weight_is_cast ? 0 : weights) + bias) * w.size : 0;
  const Tensor kept_weight = input.needs_grad() ? weight_cast : Tensor();
  const Tensor kept_input = w.trainable ? input : Tensor();
  const double input_bytes = input.bytes();
  if (weight_is_cast) {
    tape.record(out, {input, weight_cast}, {kept_input, kept_weight},
                {gradient(1, weights * 2), gradient(0, input_bytes), weight_gradient(gradient_own)},
                w.trainable);
  } else {
    tape.record(out, {input}, {kept_input}, {weight_gradient(gradient_own), gradient(0, input_bytes)},
                w.trainable);
  }
  return out;
}

namespace {

Tensor four_bit_linear(Tape& tape, const Mode& mode, const Tensor& x, const LinearSpec& w) {
  const double weights = w.in * w.out;
  Tensor input = cast(tape, x, w.compute_size);
  const int size = mode.autocast ? 2 : w.compute_size;
  // dequantize_4bit(...).to(A.dtype): the first copy is gone when the product begins.
  const bool two_copies = w.size != size || w.unpacks_to_other_type;
  const double unpacked = weights * w.size + (two_copies ? weights * size : 0);
  const double multiplied = weights * size;
  const double scales = w.double_quant ? absmax_bytes(weights) : 0;  // the scales are unpacked first
  Tensor absmax = tape.make(scales, 1, Component::transient);
  Tensor first_copy = tape.make(unpacked - multiplied, 1, Component::transient);
  Tensor weight = tape.make(multiplied, 1, Component::transient);
  absmax.free();
  first_copy.free();
  Tensor out = tape.make(input.elements() / w.in * w.out, size, Component::transient);
  weight.free();
  const std::initializer_list<Step> steps = {temporary(scales + unpacked), end_temporary(),
                                             temporary(multiplied), gradient(0, input.bytes())};
  // The packed weight is held on the node, out of reach for hooks (bitsandbytes autograd/_functions.py
  // MatMul4Bit.forward, ctx.tensors).
  if (w.keeps_input) {
    tape.record(out, {input}, {input}, steps);
  } else {
    tape.record_unread(out, {input}, steps);
  }
  return cast(tape, std::move(out), x.size());
}

// x is rounded in fp16 and keeps its own type, which the result has too.
Tensor eight_bit_linear(Tape& tape, const Tensor& x, const LinearSpec& w) {
  const double rows = x.elements() / w.in;
  Tensor half = tape.make(x.elements(), 2, Component::transient);
  Tensor quantised = tape.make(x.elements(), 1, Component::transient);
  half.free();
  Tensor sums = tape.make(rows * w.out, 4, Component::transient);
  Tensor out = tape.make(rows * w.out, x.size(), Component::transient);
  sums.free();
  quantised.free();
  tape.record(out, {x}, {x}, {temporary(w.in * w.out * x.size()), gradient(0, x.bytes())});
  return out;
}

// GPTQ, AWQ, HQQ and quanto unpack the whole weight to 16 bits for a training-sized batch, forward and
// backward; other kernels read it as it is in the forward (recipe::Unpacking).
Tensor packed_linear(Tape& tape, const Tensor& x, const LinearSpec& w) {
  using recipe::Unpacking;
  Tensor input = cast(tape, x, 2);
  Tensor weight = tape.make(w.unpacking == Unpacking::whole ? w.in * w.out : 0, 2, Component::transient);
  Tensor out = tape.make(input.elements() / w.in * w.out, 2, Component::transient);
  weight.free();
  // The identity arrives in fp32 and is cast, then multiplies the weight.
  const double identity = w.unpacking == Unpacking::by_identity ? w.in * w.in : 0;
  tape.record(out, {input}, {w.keeps_input ? input : Tensor()},
              {temporary(identity * 6), end_temporary(), temporary(identity * 2), temporary(w.in * w.out * 2),
               gradient(0, input.bytes())});
  return cast(tape, std::move(out), x.size());
}

}  // namespace

Tensor base_linear(Tape& tape, const Mode& mode, const Tensor& x, const LinearSpec& w) {
  switch (w.storage) {
    case Storage::four_bit:
      return four_bit_linear(tape, mode, x, w);
    case Storage::eight_bit:
      return eight_bit_linear(tape, x, w);
    case Storage::packed:
      return packed_linear(tape, x, w);
    case Storage::plain:
      break;
  }
  return plain_linear(tape, mode, x, w);
}

namespace {

Tensor adapter(Tape& tape, const Mode& mode, Tensor x, const LinearSpec& w) {
  LinearSpec a{.in = w.in, .out = w.r, .copies = w.copies, .size = w.adapter_size, .trainable = true};
  LinearSpec b{.in = w.r, .out = w.out, .copies = w.copies, .size = w.adapter_size, .trainable = true};
  Tensor dropped = dropout(tape, std::move(x), w.dropout);
  Tensor low = plain_linear(tape, mode, dropped, a);
  dropped.free();
  Tensor high = plain_linear(tape, mode, low, b);
  low.free();
  return scale(tape, std::move(high));
}

// AdaLoRA: `/ ranknum`, a tensor, is kept, so that recomputation goes on until here
// (peft/tuners/adalora/layer.py SVDLinear.forward).
Tensor divide_by_ranks(Tape& tape, Tensor x) {
  Tensor ranks = tape.make(1, 4, Component::transient);
  tape.about_to_save();
  Tensor out = tape.make(x.elements(), x.size(), Component::transient);
  tape.record(out, {x}, {ranks}, {gradient(0, x.bytes())});
  return out;
}

// LoRA as one autograd function (unsloth/kernels/fast_lora.py, fms-acceleration fused_ops): 16-bit casts of A
// and B live as long as a kernel runs, no dropout mask and no rank-wide tensor is kept.
Tensor fused_adapter(Tape& tape, const Tensor& x, const LinearSpec& w) {
  const double rows = x.elements() / w.in, weights = w.r * (w.in + w.out) * w.copies;
  Tensor dropped = w.dropout > 0 ? tape.make(x.elements(), 2, Component::transient) : cast(tape, x, 2);
  Tensor casts = tape.make(w.adapter_size == 4 ? weights : 0, 2, Component::autocast);
  Tensor low = tape.make(rows * w.r, 2, Component::transient);
  Tensor out = tape.make(rows * w.out, 2, Component::transient);
  tape.record(out, {x}, {dropped, w.fused_input ? x : Tensor()},
              {temporary(weights * 2), temporary(rows * w.r * 2), gradient(0, x.bytes()),
               weight_gradient(weights * w.adapter_size)},
              true);
  return out;
}

}  // namespace

Tensor linear(Tape& tape, const Mode& mode, const Tensor& x, const LinearSpec& w) {
  if (w.tuner != nullptr) return tuned(tape, mode, x, w);
  Tensor result = base_linear(tape, mode, x, w);
  if (w.r == 0) return result;
  const int size = result.size();
  const bool quantised = w.storage != Storage::plain;
  // PEFT casts x to the adapter's type; on a quantised base only when autocast is off.
  Tensor input = w.fused || (quantised && mode.autocast) ? x : cast(tape, x, w.adapter_size);
  const bool bitsandbytes = quantised && w.storage != Storage::packed;
  if (bitsandbytes) result = copy(tape, std::move(result));
  Tensor update = w.fused  ? fused_adapter(tape, input, w)
                  : w.dora ? dora(tape, mode, input, result, w)
                           : adapter(tape, mode, input, w);
  if (w.pruned) return add_in_place(tape, result, divide_by_ranks(tape, std::move(update)));
  if (quantised && !mode.autocast) update = cast(tape, std::move(update), size);
  result = add(tape, std::move(result), std::move(update));
  return cast(tape, std::move(result), size);
}

}  // namespace plimsoll::memory
