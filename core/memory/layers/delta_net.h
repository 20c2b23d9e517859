// A gated delta-net (Qwen3-Next, Qwen3.5): linear attention whose state is a matrix a head.
//
//     Tensor out = delta_net(tape, program, h);      // h: the normalised rows of one layer
//
// With flash-linear-attention and causal-conv1d its kernels run; without, Transformers falls back to PyTorch in
// fp32 that keeps several times as much (model_args.kernels).
//
// Sources: huggingface/transformers models/qwen3_5/modeling_qwen3_5.py and models/qwen3_next; fla-org
// flash-linear-attention fla/ops/gated_delta_rule/chunk.py (0.6.0), fla/modules/fused_norm_gate.py. What the
// PyTorch rule keeps was counted storage by storage on a CPU, over sizes of keys and values.
#pragma once

#include "core/memory/layers/layer.h"

namespace plimsoll::memory {

/// Whether this layer is one whose projections the program knows.
bool is_delta_net(const LayerProgram& program);

/// h: rows of `hidden`. Returns rows of `hidden`.
Tensor delta_net(Tape& tape, const LayerProgram& program, const Tensor& h);

/// attention's result times the sigmoid of a gate of its size.
Tensor gate_attention(Tape& tape, Tensor attended, Tensor gate);

}  // namespace plimsoll::memory
