#include "core/memory/layers/tuner_steps.h"

#include <cstddef>
#include <string_view>
#include <utility>

namespace plimsoll::memory {

namespace {

constexpr double complex_size = 8;

struct Site {
  Tape& tape;
  const Mode& mode;
  const LinearSpec& w;
  double rows = 0;
  Tensor& named;  ///< what has a name in the method's forward, until that ends

  Tensor make(double elements, int size = 0) const {
    return tape.make(elements, size == 0 ? w.adapter_size : size, Component::transient);
  }
  double trained_bytes() const { return w.tuner_trained * w.adapter_size; }
};

// BOFT, SHiRA: the base weight is changed before it multiplies, so a whole new weight is made and x is kept.
Tensor changed_weight(Tape& tape, const Tensor& x, const LinearSpec& w) {
  const Tuner& t = *w.tuner;
  const double weights = w.in * w.out, scratch_bytes = weights * t.scratch * w.adapter_size;
  Tensor scratch = tape.make(weights * t.scratch, w.adapter_size, Component::transient);
  Tensor weight = tape.make(weights, w.size, Component::transient);
  scratch.free();
  Tensor out = tape.make(x.elements() / w.in * w.out, x.size(), Component::transient);
  tape.record(out, {x}, {x, weight, t.base_output ? out : Tensor()},
              {temporary(weights * w.size), gradient(0, x.bytes()), temporary(scratch_bytes),
               weight_gradient(w.tuner_trained * w.adapter_size)},
              true);
  return out;
}

// IA3: the result, or the input of a feed-forward module, by a trained number a column.
Tensor ia3(Tape& tape, const Mode& mode, const Tensor& x, const LinearSpec& w) {
  if (!w.tuner_scales_input) {
    Tensor result = base_linear(tape, mode, x, w);
    const int size = result.size();
    return cast(tape, scale_columns(tape, std::move(result), w.adapter_size), size);
  }
  Tensor input = cast(tape, x, w.adapter_size);
  Tensor scaled = cast(tape, scale_columns(tape, input, w.adapter_size), x.size());
  return base_linear(tape, mode, scaled, w);  // both names last until the function ends
}

// OFT: x is turned block by block before the base multiplies it. A rotation is a series in a skew-symmetric
// matrix, of which three powers and the sum are kept.
Tensor oft(Tape& tape, const Mode& mode, const Tensor& x, const LinearSpec& w) {
  Tensor input = cast(tape, x, w.adapter_size);
  Tensor rotation = tape.make(8 * w.tuner_trained, w.adapter_size, Component::transient);
  Tensor turned = tape.make(x.elements(), w.adapter_size, Component::transient);
  tape.record(turned, {input}, {input, rotation},
              {gradient(0, input.bytes()), weight_gradient(w.tuner_trained * w.adapter_size)}, true);
  input.free();
  turned = copy(tape, std::move(turned));
  return base_linear(tape, mode, cast(tape, turned, x.size()), w);
}

// DEFT: in fp32, what the base result has along trained directions is taken away; unless they are parallel,
// something else is put there. `para`: the rank is that of one low product instead of two.
Tensor deft(Tape& tape, const Mode& mode, const Tensor& x, const LinearSpec& w) {
  const double rows = x.elements() / w.in;
  const bool para = w.tuner_trained < w.tuner_rank * (w.in + w.out) / 2;
  const double low = rows * w.tuner_rank / (para ? 1 : 2);
  Tensor base = base_linear(tape, mode, x, w);
  Tensor result = cast(tape, base, 4), input = cast(tape, x, 4);
  Tensor along = tape.make(low, 4, Component::transient);
  Tensor correction = tape.make(rows * w.out, 4, Component::transient);
  tape.record(correction, {result}, {result, along},
              {gradient(0, correction.bytes()), weight_gradient(w.tuner_trained * w.adapter_size)}, true);
  result = add(tape, std::move(result), correction);
  if (!para) {
    Tensor inner = tape.make(low, 4, Component::transient);
    Tensor injected = tape.make(rows * w.out, 4, Component::transient);
    tape.record(injected, {input}, {input, inner}, {gradient(0, input.bytes())}, true);
    result = add(tape, std::move(result), std::move(injected));
  }
  return cast(tape, std::move(result), base.size());
}

// An update that is a weight of the base's shape, built from the trained ones.
Tensor built(const Site& site, const Tensor& input) {
  const LinearSpec& w = site.w;
  const Tuner& t = *w.tuner;
  const double weights = w.in * w.out, kept = weights * (t.weights - 1);
  Tensor scratch = site.make(weights * t.scratch);
  Tensor parts = site.make(kept);
  Tensor weight = site.make(weights);
  scratch.free();
  site.tape.record(weight, {}, {parts},
                   {temporary(weights * t.scratch * w.adapter_size), weight_gradient(site.trained_bytes())},
                   true);
  Tensor update = site.make(site.rows * w.out);
  site.tape.record(update, {input, weight}, {input, input.needs_grad() ? weight : Tensor()},
                   {gradient(0, input.bytes()), gradient(1, weight.bytes())});
  return update;
}

// C3A: circular convolution in blocks, in complex numbers; the gradient of x is the real part of such a
// tensor and holds all of it (c3a/utils.py BlockCircularConvolution).
Tensor c3a(const Site& site, const Tensor& input) {
  const double rows = site.rows, in = rows * site.w.in * complex_size, out = rows * site.w.out * complex_size;
  Tensor inverse = site.make(in, 1);
  Tensor product = site.make(out, 1);
  inverse.free();
  Tensor transformed = site.make(rows * site.w.out, static_cast<int>(complex_size));
  product.free();
  site.tape.record(transformed, {input}, {input},
                   {temporary(out), gradient(0, in), temporary(in), weight_gradient(site.trained_bytes())},
                   true);
  Tensor update = site.make(rows * site.w.out);
  site.tape.record_unread(update, {transformed}, {gradient(0, update.bytes())});
  return update;
}

// MiSS and Bone: the columns of x are summed in r groups.
Tensor summed(const Site& site, const Tensor& input) {
  Tensor low = site.make(site.rows * site.w.tuner_rank);
  site.tape.record_unread(low, {input}, {gradient(0, low.bytes())});
  Tensor update = site.make(site.rows * site.w.out);
  site.tape.record(update, {low}, {low}, {gradient(0, low.bytes()), weight_gradient(site.trained_bytes())},
                   true);
  return update;
}

// PSOFT: between two frozen matrices of the base's principal part, r numbers a row are turned.
Tensor psoft(const Site& site, const Tensor& input) {
  Tensor low = site.make(site.rows * site.w.tuner_rank);
  site.tape.record(low, {input}, {low}, {gradient(0, input.bytes())});
  Tensor update = site.make(site.rows * site.w.out);
  site.tape.record(update, {low}, {low}, {gradient(0, low.bytes()), weight_gradient(site.trained_bytes())},
                   true);
  site.named = update;
  return scale(site.tape, update);
}

// By the row of the method alone.
Tensor by_table(const Site& site, const Tensor& input) {
  const Tuner& t = *site.w.tuner;
  Tensor low = site.make(site.rows * site.w.tuner_rank);
  Tensor scaled = site.make(site.rows * site.w.out * t.output);
  Tensor update = site.make(site.rows * site.w.out);
  Tensor kept_input = t.input > 0 || t.base_output ? input : Tensor();
  site.tape.record(update, {input}, {kept_input, low, scaled},
                   {gradient(0, input.bytes()), weight_gradient(site.trained_bytes())}, true);
  return update;
}

// What a method makes of x in the adapter's type, to be added to the base result.
struct Update {
  std::string_view id;
  Tensor (*make)(const Site&, const Tensor& input);
};
constexpr Update updates[] = {
    {"C3A", c3a},
    {"MISS", summed},
    {"BONE", summed},
    {"PSOFT", psoft},
};

// What runs the base layer itself on something else than x, or does something else to its result than to add.
struct Whole {
  std::string_view id;
  Tensor (*run)(Tape&, const Mode&, const Tensor& x, const LinearSpec&);
};
constexpr Whole wholes[] = {
    {"DEFT", deft},
    {"IA3", ia3},
    {"OFT", oft},
};

template <class Row, std::size_t count>
const Row* find(const Row (&rows)[count], std::string_view id) {
  for (const Row& row : rows) {
    if (row.id == id) return &row;
  }
  return nullptr;
}

}  // namespace

Tensor tuned(Tape& tape, const Mode& mode, const Tensor& x, const LinearSpec& w) {
  const Tuner& t = *w.tuner;
  if (t.replaces) return changed_weight(tape, x, w);
  if (const Whole* whole = find(wholes, t.id)) return whole->run(tape, mode, x, w);
  Tensor named;
  const Site site{tape, mode, w, x.elements() / w.in, named};
  const Update* update_of = find(updates, t.id);
  const auto make = update_of != nullptr ? update_of->make : t.weights > 0 ? built : by_table;
  Tensor result = base_linear(tape, mode, x, w);
  const int size = result.size();
  if (t.base_output) return cast(tape, make(site, result), size);
  Tensor input = cast(tape, x, w.adapter_size);  // rebinds x, until the function ends
  Tensor update = make(site, input);
  if (t.in_place) return add_in_place(tape, result, cast(tape, std::move(update), size));
  return cast(tape, add(tape, std::move(result), std::move(update)), size);
}

}  // namespace plimsoll::memory
