// Optimizer states and the temporaries of step(), from the table in core/recipe/optimizers.cpp.
#include <algorithm>
#include <cmath>

#include "core/memory/replay.h"
#include "core/recipe/optimizers.h"

namespace plimsoll::memory {

namespace {

// bitsandbytes optim/optimizer.py get_state_buffer: paged buffers only from 100,000 elements on.
constexpr double paged_from = 1e5;

double elements_of(const Trained& t) { return t.rows * std::max(1.0, t.columns); }

double state_bytes(const Trained& t, const recipe::Optimizer& o) {
  const double n = elements_of(t);
  if (o.factored) return t.columns > 0 ? 4 * (t.rows + t.columns) : 4 * n;
  if (o.full_state_below > 0 && n < static_cast<double>(o.full_state_below)) return n * 4 * o.scales;
  const double scales = o.block > 0 ? o.scales * 4 * std::ceil(n / static_cast<double>(o.block)) : 0;
  return n * (o.state_in_parameter_dtype * t.size + o.state_bytes) + scales;
}

}  // namespace

double optimizer_state_bytes(const Parameters& parameters, const std::string& optim, double* paged) {
  const recipe::Optimizer* o = recipe::find_optimizer(optim);
  double on_gpu = 0, managed = 0;
  if (o == nullptr) return 0;
  for (const Trained& t : parameters.trained) {
    const double bytes = state_bytes(t, *o) * t.count;
    (o->paged && elements_of(t) >= paged_from ? managed : on_gpu) += bytes;
  }
  if (paged != nullptr) *paged = managed;
  return on_gpu;
}

double optimizer_temporary_bytes(const Parameters& parameters, const std::string& optim) {
  const recipe::Optimizer* o = recipe::find_optimizer(optim);
  if (o == nullptr) return 0;
  double largest = 0;  // of any one tensor
  switch (o->temporary) {
    case recipe::StepTemporary::none:
      return 0;
    case recipe::StepTemporary::copy_of_all:
      // _multi_tensor_adam works through one dtype group at a time; a model has one, or norms beside it.
      return parameters.trained_bytes;
    case recipe::StepTemporary::two_of_largest:
      return 2 * parameters.largest_trained;
    case recipe::StepTemporary::adafactor:
      for (const Trained& t : parameters.trained) {
        const double n = elements_of(t);
        largest = std::max(largest, n * (t.size == 4 ? 8 : 16));
      }
      return largest;
  }
  return 0;
}

}  // namespace plimsoll::memory
