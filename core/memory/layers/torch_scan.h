// Mamba's scans without the packages of their kernels, as Transformers writes them in PyTorch.
//
//     Tensor out = torch_mamba_2(tape, program, h);      // h: the normalised rows of one layer
//
// Mamba-2's is in chunks and in fp32, and B and C are laid out for every head. From Transformers 5.18 on products are einsums,
// matrix products that autocast runs in 16 bits; before, factors are multiplied element by element and summed, a
// chunk of Q positions with Q x Q x heads x state numbers at once. Mamba-1's goes from one position to the next and keeps
// every state.
//
// Sources: huggingface/transformers v5.23 and v5.14 src/transformers/models/mamba2/modeling_mamba2.py
// mamba2_chunk_scan, segment_sum, causal_conv1d_fn, MambaRMSNormGated; Mamba2Mixer.torch_forward;
// models/mamba/modeling_mamba.py mamba_selective_scan, MambaMixer.slow_forward.
#pragma once

#include "core/memory/layers/layer.h"

namespace plimsoll::memory {

/// h: rows of `hidden`. Returns rows of `hidden`. The program has ssm_in and ssm_out.
Tensor torch_mamba_2(Tape& tape, const LayerProgram& program, const Tensor& h);

/// Mamba-1's: x, step sizes and gate of rows x inner, B and C of rows x state. Returns rows x inner.
struct SelectiveScan {
  Tensor x, steps, b, c, gate;
};
Tensor torch_selective_scan(Tape& tape, const LayerProgram& program, SelectiveScan in);

}  // namespace plimsoll::memory
