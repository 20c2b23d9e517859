// Mamba's mixer as its kernels run it: what they keep, what they compute again, what their backward holds.
//
//     Tensor out = state_space(tape, program, h);      // h: the normalised rows of one layer
//
// The kernels of mamba_ssm and causal_conv1d are meant. Without them Transformers falls back to Python that
// keeps many times as much; the report says so.
//
// Sources: state-spaces/mamba mamba_ssm/ops/triton/ssd_combined.py MambaSplitConv1dScanCombinedFn (Mamba-2),
// mamba_ssm/ops/selective_scan_interface.py MambaInnerFn, SelectiveScanFn (Mamba-1); huggingface/transformers
// src/transformers/models/mamba, jamba, falcon_h1, nemotron_h, granitemoehybrid.
#pragma once

#include "core/memory/layers/layer.h"

namespace plimsoll::memory {

/// h: rows of `hidden`. Returns rows of `hidden`. The program has ssm_in and ssm_out.
Tensor state_space(Tape& tape, const LayerProgram& program, const Tensor& h);

}  // namespace plimsoll::memory
