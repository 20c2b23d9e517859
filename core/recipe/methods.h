// The method table: what one word of a person's means, as fields of a request.
//
//     const Method* method = find_method("qlora");
//     quantization_of(*method, nullptr);   // load_in_4bit, bnb_4bit_quant_type nf4, bnb_4bit_use_double_quant
#pragma once

#include <span>
#include <string_view>

#include "core/recipe/recipe.h"

namespace plimsoll::recipe {

struct Method {
  std::string_view id;    ///< "qlora"
  std::string_view name;  ///< "QLoRA"
  bool adapters = false;  ///< else all weights are trained
  std::string_view
      quantization;  ///< of the frozen weights, as in a request; "" where they are in 16 bits or more
  std::string_view source;
};

std::span<const Method> methods();
/// By its id. Null when there is no such method.
const Method* find_method(std::string_view id);
/// By its name. Null when there is no such method.
const Method* method_called(std::string_view name);

/// Its fields under /quantization, by pointer. `stack`: the one that the request names, or null; how one that states its
/// 4-bit format loads them is left to it.
Values quantization_of(const Method& method, const StackPreset* stack);

}  // namespace plimsoll::recipe
