#include "core/memory/parameters/optimizer_states.h"

#include <algorithm>
#include <cmath>

#include "core/recipe/optimizers.h"

namespace plimsoll::memory {

namespace {

// bitsandbytes optim/optimizer.py get_state_buffer: paged buffers only from 100,000 elements on, and never for the
// scales (Optimizer2State.init_state, absmax1).
constexpr double paged_from = 1e5;

// The states of a matrix m x n, m >= n, that is projected to m x r, and the matrix n x r that leads there. Of
// an fp32 gradient GaLore keeps a view into V of its decomposition, and with it all n x n of it; of a 16-bit
// one a copy of the part it needs (tests/measured/projected_states.py).
double projected_bytes(const Trained& t, const recipe::Optimizer& o) {
  const double large = std::max(t.rows, t.columns), small = std::min(t.rows, t.columns);
  const double rank = std::min(t.rank, small);
  const bool whole = o.projection == recipe::Projection::singular_vectors && t.size == 4;
  const double leads = small * (whole ? small : rank) * t.size;
  if (o.factored) return leads + 4 * (large + rank);
  const double scales =
      o.block > 0 ? o.scales * 4 * std::ceil(large * rank / static_cast<double>(o.block)) : 0;
  return leads + large * rank * (o.state_in_parameter_dtype * t.size + o.state_bytes) + scales;
}

// What the decomposition of the largest projected gradient holds: an fp32 copy of a 16-bit one, one in
// columns for the solver, U and V (pytorch/pytorch aten/src/ATen/native/BatchLinearAlgebra.cpp linalg_svd).
double decomposition_bytes(const Parameters& parameters) {
  double highest = 0;
  for (const Trained& t : parameters.trained) {
    if (t.rank == 0) continue;
    const double n = t.elements(), small = std::min(t.rows, t.columns);
    highest = std::max(highest, 4 * (n * (t.size == 4 ? 1 : 2) + n + small * small));
  }
  return highest;
}

// Fp32 states: of what is small, and of what Transformers' trainer.py create_optimizer registers so (every nn.Embedding).
bool keeps_full_states(const Trained& t, const recipe::Optimizer& o) {
  return (o.embeddings_in_full && t.full_states) ||
         (o.full_state_below > 0 && t.elements() < static_cast<double>(o.full_state_below));
}

// One fp32 scale of each block of a state tensor.
double scale_bytes(const Trained& t, const recipe::Optimizer& o) {
  if (o.block == 0 || keeps_full_states(t, o)) return 0;
  return o.scales * 4 * std::ceil(t.elements() / static_cast<double>(o.block));
}

// Without the scales.
double state_bytes(const Trained& t, const recipe::Optimizer& o) {
  const double n = t.elements();
  if (o.factored) return t.columns > 0 ? 4 * (t.rows + t.columns) * t.stacked : 4 * n;
  if (keeps_full_states(t, o)) return n * 4 * o.scales;
  const double in_own_type = o.state_in_parameter_dtype + (t.size == 2 ? o.state_of_16_bit : 0);
  return n * (in_own_type * t.size + o.state_bytes);
}

// Of each parameter in turn the fp32 gradient and weight where it has 16 bits, the update and what it is made of; the
// update of the matrix before has its name until then (transformers optimization.py Adafactor.step). Vectors
// come last, in the group without decay.
double adafactor_bytes(const Parameters& parameters, bool one_loop) {
  double last = 0, largest = 0, before = 0;
  for (const Trained& t : parameters.trained) {
    if (one_loop && t.place == Place::ends_layer) last = 4 * t.elements();
  }
  for (const Trained& t : parameters.trained) {
    const bool in_layers = t.place == Place::in_layers || t.place == Place::ends_layer;
    const double n = t.elements(), behind = t.place == Place::behind_layers ? last : 0;
    largest = std::max(largest, n * (t.size == 4 ? 8 : 16) + (in_layers ? before : behind));
    if (one_loop && in_layers && t.columns > 0) before = 4 * n;
  }
  return largest;
}

}  // namespace

double optimizer_state_bytes(const Parameters& parameters, const std::string& optim, double* paged) {
  const recipe::Optimizer* o = recipe::find_optimizer(optim);
  double on_gpu = 0, managed = 0;
  if (o == nullptr) return 0;
  for (const Trained& t : parameters.trained) {
    const double count = t.count + (o->at_once ? t.idle : 0);
    if (t.rank > 0 && o->projection != recipe::Projection::none) {
      on_gpu += projected_bytes(t, *o) * count;
      continue;
    }
    on_gpu += scale_bytes(t, *o) * count;
    (o->paged && t.elements() >= paged_from ? managed : on_gpu) += state_bytes(t, *o) * count;
  }
  if (paged != nullptr) *paged = managed;
  return on_gpu;
}

double optimizer_temporary_bytes(const Parameters& parameters, const std::string& optim) {
  const recipe::Optimizer* o = recipe::find_optimizer(optim);
  if (o == nullptr) return 0;
  double largest = 0;  // of any one tensor
  if (o->projection == recipe::Projection::singular_vectors) largest = decomposition_bytes(parameters);
  switch (o->temporary) {
    case recipe::StepTemporary::none:
      return 0;
    case recipe::StepTemporary::copy_of_all:
      // _multi_tensor_adam works through one dtype group at a time; a model has one, or norms beside it.
      return parameters.trained_bytes;
    case recipe::StepTemporary::two_copies_of_all:
      return 2 * parameters.trained_bytes;
    case recipe::StepTemporary::two_of_largest:
      return std::max(largest, 2 * parameters.largest_trained);
    case recipe::StepTemporary::adafactor:
      return std::max(largest, adafactor_bytes(parameters, true));
    case recipe::StepTemporary::adafactor_apart:
      return std::max(largest, adafactor_bytes(parameters, false));
    case recipe::StepTemporary::lomo:
      for (const Trained& t : parameters.trained)
        largest = std::max(largest, t.size == 4 ? 0 : 8 * t.elements());
      return largest;
  }
  return 0;
}

// Optimizers that take one parameter after another anyhow need as much there.
double step_in_backward(const recipe::Recipe& recipe, double step, double largest_trained) {
  const recipe::Optimizer* o = recipe::find_optimizer(recipe.training.optim);
  const bool shrinks = recipe.training.optimizer_in_backward && o != nullptr &&
                       (o->temporary == recipe::StepTemporary::copy_of_all ||
                        o->temporary == recipe::StepTemporary::two_copies_of_all);
  return shrinks ? std::min(step, 2 * largest_trained) : step;
}

}  // namespace plimsoll::memory
