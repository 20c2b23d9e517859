// Which model classes of Transformers can call PyTorch's scaled_dot_product_attention, and which flash-attn.
//
//     supports_sdpa("opt", "4.44.0");    // false: eager attention unless flash is asked for
//
// The rows are those of core/model/model_types.cpp.
#pragma once

#include <string>
#include <string_view>

namespace plimsoll::recipe {

/// True for a model type without a row, from 4.36 on, which brought it to the first classes.
bool supports_sdpa(std::string_view model_type, const std::string& transformers);
/// The same of flash-attn, in whose releases 4.46 is the oldest that was read.
bool supports_flash_attention(std::string_view model_type, const std::string& transformers);

}  // namespace plimsoll::recipe
