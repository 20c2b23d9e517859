// What follows attention in a layer: a gated or plain MLP, or routed experts, each with its share of the
// rows.
//
//     Tensor out = mlp(tape, program, h);
//
// Sources: huggingface/transformers src/transformers/models/*/modeling_*.py, of Mixtral for a loop over
// experts.
#pragma once

#include "core/memory/layers/layer.h"

namespace plimsoll::memory {

/// x: rows of `hidden`, normalised. Returns rows of `hidden`.
Tensor mlp(Tape& tape, const LayerProgram& program, const Tensor& x);

}  // namespace plimsoll::memory
