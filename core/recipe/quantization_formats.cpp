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

using Z = ZeroPoint;
using U = Unpacking;

constexpr double codebook = 65536.0 * 8 * 2;  // 1x16: a code for eight weights
constexpr uint64_t fp8_block = uint64_t{128} * 128;

// clang-format off
constexpr QuantizationFormat format_rows[] = {
    {.id = "gptq", .bits = 4, .group = 128, .zero = Z::packed, .index = true, .source = gptq},
    {.id = "awq", .bits = 4, .group = 128, .zero = Z::packed, .source = awq},
    {.id = "hqq", .bits = 4, .group = 64, .zero = Z::sixteen_bit, .source = hqq},
    {.id = "aqlm", .bits = 2, .group = 0, .zero = Z::sixteen_bit, .table_bytes = codebook, .source = aqlm},
    {.id = "torchao_int8", .bits = 8, .group = 0, .zero = Z::sixteen_bit, .source = torchao_types},
    {.id = "torchao_int4", .bits = 4, .group = 128, .zero = Z::sixteen_bit, .trainable_from = never, .source = torchao_types},
    {.id = "eetq", .bits = 8, .group = 0, .keeps_input = true, .unpacking = U::by_identity, .source = eetq},
    {.id = "quanto_int8", .bits = 8, .group = 0, .keeps_input = true, .source = quanto},
    {.id = "quanto_float8", .bits = 8, .group = 0, .keeps_input = true, .source = quanto},
    {.id = "quanto_int4", .bits = 4, .group = 128, .zero = Z::sixteen_bit, .keeps_input = true, .source = quanto},
    {.id = "quanto_int2", .bits = 2, .group = 128, .zero = Z::sixteen_bit, .keeps_input = true, .source = quanto},
    {.id = "fp8", .bits = 8, .group = fp8_block, .scale_bytes = 4, .unpacking = U::backward, .trainable_from = "5.22", .source = fp8},
    {.id = "fbgemm_fp8", .bits = 8, .group = 0, .scale_bytes = 4, .unpacking = U::backward, .trainable_from = never, .source = quantizers},
    {.id = "mxfp4", .bits = 4, .group = 32, .scale_bytes = 1, .unpacking = U::backward, .trainable_from = never, .source = quantizers},
    {.id = "nvfp4", .bits = 4, .group = 16, .scale_bytes = 1, .unpacking = U::backward, .trainable_from = never, .source = quantizers},
    {.id = "higgs", .bits = 4, .group = 256, .unpacking = U::backward, .trainable_from = never, .source = quantizers},
    {.id = "spqr", .bits = 3, .group = 16, .scale_bytes = 1, .unpacking = U::backward, .trainable_from = never, .source = quantizers},
    {.id = "vptq", .bits = 2, .group = 0, .scale_bytes = 0, .unpacking = U::backward, .trainable_from = never, .source = quantizers},
    {.id = "auto-round", .bits = 4, .group = 128, .zero = Z::packed, .unpacking = U::backward, .trainable_from = never, .source = quantizers},
    {.id = "quark", .bits = 8, .group = 0, .unpacking = U::backward, .trainable_from = never, .source = quantizers},
    {.id = "gguf", .bits = 4, .group = 32, .unpacking = U::backward, .trainable_from = never, .source = quantizers},
};
// clang-format on

}  // namespace

std::span<const QuantizationFormat> quantization_formats() { return format_rows; }

const QuantizationFormat* find_quantization_format(std::string_view id) {
  for (const QuantizationFormat& format : quantization_formats()) {
    if (format.id == id) return &format;
  }
  return nullptr;
}

std::string trainable_formats() {
  std::string always, later;
  for (const QuantizationFormat& format : quantization_formats()) {
    const std::string id(format.id), from(format.trainable_from);
    if (from == "0") always += (always.empty() ? "" : ", ") + id;
    if (from != "0" && !from.empty()) later += "; " + id + " from Transformers " + from + " on";
  }
  return always + later;
}

bool can_be_trained_on(const Recipe& recipe) {
  const QuantizationFormat* format = find_quantization_format(recipe.quantization.quant_method);
  if (format == nullptr) return true;
  if (format->trainable_from.empty()) return false;
  return version_at_least(recipe.versions.transformers, std::string(format->trainable_from));
}

}  // namespace plimsoll::recipe
