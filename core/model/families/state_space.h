// The mixers of Mamba and Mamba-2 as modules: which linears, which small parameters.
//
//     group.state_space = {.inner = 3072, .heads = 48, .state = 256};
//     add_state_space(group, "model.layers.#.mamba.", 2048, {});
#pragma once

#include <string>

#include "core/model/builders.h"

namespace plimsoll::model {

struct StateSpaceBiases {
  bool in = false, out = false, convolution = true;
};

/// From the sizes in group.state_space, which its caller has filled in.
void add_state_space(LayerGroup& group, const std::string& at, uint64_t hidden, StateSpaceBiases biases);

}  // namespace plimsoll::model
