// DeBERTa's attention, in which queries and keys are also held against learned distances.
//
//     Tensor found = disentangled_attention(tape, program, h);      // before the output projection
//
// Source: huggingface/transformers src/transformers/models/deberta_v2/modeling_deberta_v2.py
// DisentangledSelfAttention, which has no other kernel than its own Python.
#pragma once

#include "core/memory/layers/layer.h"

namespace plimsoll::memory {

Tensor disentangled_attention(Tape& tape, const LayerProgram& program, const Tensor& h);

}  // namespace plimsoll::memory
