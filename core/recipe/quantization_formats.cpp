#include "core/recipe/quantization_formats.h"

namespace plimsoll::recipe {

namespace {
constexpr std::string_view never = "";
constexpr std::string_view quantizers = "huggingface/transformers src/transformers/quantizers, is_trainable";
constexpr std::string_view gptq = "AutoGPTQ/AutoGPTQ auto_gptq/nn_modules/qlinear/qlinear_cuda_old.py";
constexpr std::string_view awq = "casper-hansen/AutoAWQ awq/modules/linear/gemm.py";
constexpr std::string_view hqq = "mobiusml/hqq hqq/core/quantize.py";
constexpr std::string_view aqlm = "Vahe1994/AQLM inference_lib/src/aqlm/inference.py QuantizedLinear";
constexpr std::string_view torchao_types =
    "pytorch/ao torchao/dtypes; huggingface/peft src/peft/tuners/lora/torchao.py _check_dtype_supported";
constexpr std::string_view eetq =
    "huggingface/transformers src/transformers/integrations/eetq.py EetqLinearMMFunction";
constexpr std::string_view quanto =
    "huggingface/optimum-quanto optimum/quanto/tensor/function.py QuantizedLinearFunction, nn/qmodule.py, "
    "library/qbytes_mm.py";
constexpr std::string_view fp8 =
    "huggingface/transformers v5.22 src/transformers/integrations/finegrained_fp8.py FP8LinearFunction";
}  // namespace

const std::vector<QuantizationFormat>& quantization_formats() {
  using Z = ZeroPoint;
  using U = Unpacking;
  constexpr double codebook = 65536.0 * 8 * 2;  // 1x16: a code for eight weights
  constexpr uint64_t fp8_block = 128 * 128;
  // clang-format off
  static const std::vector<QuantizationFormat> table = {
      // id             bits group      scale zero            table     index  x      unpacks         trainable  source
      {"gptq",          4,   128,       2,    Z::packed,      0,        true,  false, U::whole,       "0",       gptq},
      {"awq",           4,   128,       2,    Z::packed,      0,        false, false, U::whole,       "0",       awq},
      {"hqq",           4,   64,        2,    Z::sixteen_bit, 0,        false, false, U::whole,       "0",       hqq},
      {"aqlm",          2,   0,         2,    Z::sixteen_bit, codebook, false, false, U::whole,       "0",       aqlm},
      {"torchao_int8",  8,   0,         2,    Z::sixteen_bit, 0,        false, false, U::whole,       "0",       torchao_types},
      {"torchao_int4",  4,   128,       2,    Z::sixteen_bit, 0,        false, false, U::whole,       never,     torchao_types},
      {"eetq",          8,   0,         2,    Z::none,        0,        false, true,  U::by_identity, "0",       eetq},
      {"quanto_int8",   8,   0,         2,    Z::none,        0,        false, true,  U::whole,       "0",       quanto},
      {"quanto_float8", 8,   0,         2,    Z::none,        0,        false, true,  U::whole,       "0",       quanto},
      {"quanto_int4",   4,   128,       2,    Z::sixteen_bit, 0,        false, true,  U::whole,       "0",       quanto},
      {"quanto_int2",   2,   128,       2,    Z::sixteen_bit, 0,        false, true,  U::whole,       "0",       quanto},
      {"fp8",           8,   fp8_block, 4,    Z::none,        0,        false, false, U::backward,    "5.22",    fp8},
      {"fbgemm_fp8",    8,   0,         4,    Z::none,        0,        false, false, U::backward,    never,     quantizers},
      {"mxfp4",         4,   32,        1,    Z::none,        0,        false, false, U::backward,    never,     quantizers},
      {"nvfp4",         4,   16,        1,    Z::none,        0,        false, false, U::backward,    never,     quantizers},
      {"higgs",         4,   256,       2,    Z::none,        0,        false, false, U::backward,    never,     quantizers},
      {"spqr",          3,   16,        1,    Z::none,        0,        false, false, U::backward,    never,     quantizers},
      {"vptq",          2,   0,         0,    Z::none,        0,        false, false, U::backward,    never,     quantizers},
      {"auto-round",    4,   128,       2,    Z::packed,      0,        false, false, U::backward,    never,     quantizers},
      {"quark",         8,   0,         2,    Z::none,        0,        false, false, U::backward,    never,     quantizers},
      {"gguf",          4,   32,        2,    Z::none,        0,        false, false, U::backward,    never,     quantizers},
  };
  // clang-format on
  return table;
}

const QuantizationFormat* find_quantization_format(std::string_view id) {
  for (const QuantizationFormat& packing : quantization_formats()) {
    if (packing.id == id) return &packing;
  }
  return nullptr;
}

bool can_be_trained_on(const Recipe& recipe) {
  const QuantizationFormat* packing = find_quantization_format(recipe.quantization.quant_method);
  if (packing == nullptr) return true;
  if (packing->trainable_from.empty()) return false;
  return version_at_least(recipe.versions.transformers, std::string(packing->trainable_from));
}

}  // namespace plimsoll::recipe
