// Unsloth's own layer parts for adapters without dropout and bias: q, k and v in one autograd function, the
// gated MLP in another, both of which write gradients over what they saved.
//
//     if (unsloth_mlp_fits(program)) out = unsloth_mlp(tape, program, x);
//
// Source: unslothai/unsloth unsloth/kernels/fast_lora.py LoRA_QKV, LoRA_MLP, LoRA_W; kernels/utils.py
// fast_dequantize, matmul_lora.
#pragma once

#include <array>
#include <string>

#include "core/memory/layers/layer.h"
#include "core/recipe/recipe.h"

namespace plimsoll::memory {

bool unsloth_qkv_fits(const LayerProgram& program);
bool unsloth_mlp_fits(const LayerProgram& program);

/// q, k and v of the normalised rows h. h is saved once and becomes the gradient.
std::array<Tensor, 3> unsloth_qkv(Tape& tape, const LayerProgram& program, const Tensor& h);

/// down(silu(gate(x)) * up(x)): keeps x, gate and up; backward writes over all three.
Tensor unsloth_mlp(Tape& tape, const LayerProgram& program, const Tensor& x);

/// One projection with its adapter (LoRA_W): keeps x.
Tensor unsloth_linear(Tape& tape, const Tensor& x, const LinearSpec& spec);

/// The loss kernel that a batch of so many tokens meets: from December 2024 to October 2025 one of up to
/// 1,024 has its logits made (unsloth/models/llama.py CausalLM_fast_forward, RETURN_LOGITS, 2024.12.12 to
/// 2025.10.7).
std::string unsloth_loss(const recipe::Recipe& recipe, double tokens);
/// Whether the next token can therefore take less.
bool unsloth_loss_has_threshold(const recipe::Recipe& recipe);

}  // namespace plimsoll::memory
