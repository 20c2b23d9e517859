// Unsloth's own layer parts for adapters without dropout and bias: q, k and v in one autograd function, the
// gated MLP in another, both of which write gradients over what they saved.
//
//     if (unsloth_mlp_fits(program)) out = unsloth_mlp(tape, program, x);
//
// Source: unslothai/unsloth unsloth/kernels/fast_lora.py LoRA_QKV, LoRA_MLP, LoRA_W; kernels/utils.py
// fast_dequantize, matmul_lora.
#pragma once

#include <array>

#include "core/memory/layers/layer.h"

namespace plimsoll::memory {

bool unsloth_qkv_fits(const LayerProgram& program);
bool unsloth_mlp_fits(const LayerProgram& program);

/// q, k and v of the normalised rows h. h is saved once and becomes the gradient.
std::array<Tensor, 3> unsloth_qkv(Tape& tape, const LayerProgram& program, const Tensor& h);

/// down(silu(gate(x)) * up(x)): keeps x, gate and up; backward writes over all three.
Tensor unsloth_mlp(Tape& tape, const LayerProgram& program, const Tensor& x);

/// One projection with its adapter (LoRA_W): keeps x.
Tensor unsloth_linear(Tape& tape, const Tensor& x, const LinearSpec& spec);

}  // namespace plimsoll::memory
