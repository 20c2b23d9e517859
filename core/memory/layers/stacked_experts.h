// Routed experts as Transformers 5 runs them: one parameter holds the same projection of all experts, the
// rows are sorted by expert, and one grouped product does each projection for all.
//
//     if (program.stacked_experts) sum = stacked_experts(tape, program, x, x);
//
// PEFT's adapters on such a parameter build the adapted weights of all experts anew in each forward.
//
// Sources: huggingface/transformers src/transformers/integrations/moe.py grouped_mm_experts_forward,
// models/*/modeling_*.py *TopKRouter; huggingface/peft src/peft/tuners/lora/layer.py ParamWrapper,
// _LoraFactorsProxy.
#pragma once

#include "core/memory/layers/layer.h"

namespace plimsoll::memory {

/// x: rows of `hidden`, for the router; `routed`: the same rows as the experts read them, x itself but where
/// they work on fewer features. Returns what the routed experts add up to, rows as wide as `routed`.
Tensor stacked_experts(Tape& tape, const LayerProgram& program, const Tensor& x, const Tensor& routed);

}  // namespace plimsoll::memory
