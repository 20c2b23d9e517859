// What stays on the GPU from loading on, tensor by tensor in the order in which it arrives: the allocator
// sees each of them, and each may leave a remainder.
//
//     for (const Resident& r : resident_weights(network, recipe)) print(r.what, r.loaded);
//
// Order: transformers modeling_utils.py loads parameter by parameter, a layer at a time; PEFT adds its
// matrices module by module; torch/optim makes the states parameter by parameter.
#pragma once

#include <string>
#include <vector>

#include "core/memory/parameters/parameters.h"

namespace plimsoll::memory {

/// Sizes in bytes.
struct Resident {
  double loaded = 0;   ///< as from_pretrained leaves it
  double kept = 0;     ///< after preparation: larger when it was upcast
  double staging = 0;  ///< the unquantised matrix that exists beside it while it is packed
  const char* what = "weights";
  bool first = true;  ///< begins a parameter: what the one before still held while it was packed is gone
};
std::vector<Resident> resident_weights(const model::Architecture& network, const recipe::Recipe& recipe);

/// Bytes of one tensor for each trained parameter, in the order of the layers.
std::vector<double> trained_tensors(const Parameters& parameters);

/// Bytes of the optimizer's states on the GPU, in the order in which the first step makes them.
std::vector<double> state_tensors(const Parameters& parameters, const std::string& optim);

}  // namespace plimsoll::memory
