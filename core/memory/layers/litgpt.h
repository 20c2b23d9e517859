// LitGPT's own attention: one fused projection with adapters on thirds of it, its rotary code, and the copies
// it makes.
//
//     Tensor out = litgpt_attention(tape, program, shape, h);    // what the output projection reads
//
// Source: Lightning-AI/litgpt litgpt/model.py CausalSelfAttention, litgpt/lora.py LoRAQKVLinear; the same at
// 8641822 (October 2023, lit_gpt/) and at 0.4.
#pragma once

#include "core/memory/layers/layer.h"

namespace plimsoll::memory {

Tensor litgpt_attention(Tape& tape, const LayerProgram& program, AttentionShape shape, const Tensor& h);

}  // namespace plimsoll::memory
