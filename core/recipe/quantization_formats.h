// How other libraries than bitsandbytes pack weights, and which of them can be trained on.
//
//     const recipe::QuantizationFormat* p = recipe::find_quantization_format("quanto_int4");
//     p->bits;                 // 4
//     p->keeps_input;          // its linear keeps x for the backward although the weight is frozen
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/recipe/recipe.h"

namespace plimsoll::recipe {

/// Of a group of weights, beside its scale.
enum class ZeroPoint : uint8_t { none, packed, sixteen_bit };

/// What a linear does with its packed weight when a batch of training size arrives. Backward always unpacks.
enum class Unpacking : uint8_t {
  whole,        ///< the whole weight in 16 bits, forward too
  backward,     ///< the forward kernel reads the packed weight
  by_identity,  ///< the same; the backward unpacks by multiplying with an identity matrix (EETQ)
};

struct QuantizationFormat {
  std::string_view id;   ///< as in quantization.quant_method
  uint64_t bits = 4;     ///< unless the request says otherwise
  uint64_t group = 128;  ///< weights that share a scale, unless the request says otherwise; 0: a row
  double scale_bytes = 2;
  ZeroPoint zero = ZeroPoint::none;
  double table_bytes = 0;  ///< of a codebook for each linear
  bool index = false;      ///< the group of each input is kept
  bool keeps_input = false;
  Unpacking unpacking = Unpacking::whole;
  /// Transformers from which on its Trainer lets adapters be trained on such weights; empty: it never does.
  std::string_view trainable_from = "0";
  std::string_view source;
};

std::span<const QuantizationFormat> quantization_formats();

/// Null when unknown.
const QuantizationFormat* find_quantization_format(std::string_view id);

/// The formats that adapters can be trained on: "gptq, awq; fp8 from Transformers 5.22 on".
std::string trainable_formats();
/// False for weights on which no adapter can be trained in that version of Transformers.
bool can_be_trained_on(const Recipe& recipe);

}  // namespace plimsoll::recipe
