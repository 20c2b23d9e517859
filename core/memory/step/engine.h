// The share of a GPU that a colocated vLLM takes.
//
//     engine_utilization(recipe, 15.6e9);    // 0.76: Unsloth's standby sets it by the card
//     engine_utilization(recipe, 0);         // no card is chosen: what the request says
#pragma once

#include "core/recipe/recipe.h"

namespace plimsoll::memory {

/// The stack sets it by the card, whatever the request says: Unsloth under UNSLOTH_VLLM_STANDBY.
bool sets_engine_utilization(const recipe::Recipe& recipe);

/// vllm_gpu_memory_utilization, or what the stack makes of it on a GPU of `total_bytes`.
double engine_utilization(const recipe::Recipe& recipe, double total_bytes);

}  // namespace plimsoll::memory
