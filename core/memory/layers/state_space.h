// Mamba's mixer as its kernels run it: what they keep, what they compute again, what their backward holds.
//
//     Tensor out = state_space(tape, program, h);      // h: the normalised rows of one layer
//
// The kernels of mamba_ssm and causal_conv1d are meant. What Transformers runs without them keeps many times as
// much: torch_scan.h.
//
// Sources: state-spaces/mamba mamba_ssm/ops/triton/ssd_combined.py MambaSplitConv1dScanCombinedFn (Mamba-2),
// mamba_ssm/ops/selective_scan_interface.py MambaInnerFn, SelectiveScanFn (Mamba-1); huggingface/transformers
// src/transformers/models/mamba, jamba, falcon_h1, nemotron_h, granitemoehybrid.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/memory/layers/layer.h"

namespace plimsoll::memory {

/// Of one micro-batch; elements, where nothing else is said.
struct ScanSizes {
  double rows, inner, state, groups, heads, chunk, chunks;
  explicit ScanSizes(const LayerProgram& p)
      : rows(p.batch * p.length),
        inner(static_cast<double>(p.group->state_space.inner)),
        state(static_cast<double>(p.group->state_space.state)),
        groups(static_cast<double>(p.group->state_space.groups)),
        heads(static_cast<double>(p.group->state_space.heads)),
        chunk(static_cast<double>(std::max<uint64_t>(1, p.group->state_space.chunk))),
        chunks(p.batch * std::ceil(p.length / chunk)) {}
  /// What goes through the convolution: the signal, B and C.
  double convolved() const { return inner + 2 * groups * state; }
  /// One state for each channel at the end of each chunk.
  double states() const { return chunks * inner * state; }
  double padded_rows() const { return chunks * chunk; }
};

/// h: rows of `hidden`. Returns rows of `hidden`. The program has ssm_in and ssm_out.
Tensor state_space(Tape& tape, const LayerProgram& program, const Tensor& h);

}  // namespace plimsoll::memory
