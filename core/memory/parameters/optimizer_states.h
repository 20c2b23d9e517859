// Optimizer states and the temporaries of step(), from the table in core/recipe/optimizers.cpp.
//
//     double paged = 0;
//     optimizer_state_bytes(parameters, "adamw_torch", &paged);
//     optimizer_temporary_bytes(parameters, "adamw_torch");
#pragma once

#include "core/memory/parameters/parameters.h"

namespace plimsoll::memory {

/// Bytes of the optimizer's states for the trained tensors; `paged` gets those in managed memory.
double optimizer_state_bytes(const Parameters& parameters, const std::string& optim, double* paged);
/// Bytes that step() needs beyond them.
double optimizer_temporary_bytes(const Parameters& parameters, const std::string& optim);

/// What is left of `step` bytes, which a step takes at once, where each parameter steps in the backward.
double step_in_backward(const recipe::Recipe& recipe, double step, double largest_trained);

}  // namespace plimsoll::memory
