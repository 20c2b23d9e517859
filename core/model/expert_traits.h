// What model classes of Transformers 5 do with routed experts beyond their config, and how PEFT names them.
//
//     mark_experts("qwen3_moe", network);    // groups with experts and their stacks know it
//
// Sources: huggingface/transformers src/transformers/models/*/modeling_*.py *TopKRouter, *Experts,
// src/transformers/conversion_mapping.py _MODEL_TO_CONVERSION_PATTERN (5.23); huggingface/peft
// src/peft/utils/transformers_weight_conversion.py _MOE_TARGET_MODULE_MAPPING.
#pragma once

#include <string_view>

#include "core/model/architecture.h"

namespace plimsoll::model {

/// `model_type` is that of the class that is trained, as PEFT sees it. Types without a row keep what their
/// groups say.
void mark_experts(std::string_view model_type, Architecture& network);

}  // namespace plimsoll::model
