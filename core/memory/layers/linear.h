// A linear layer as it really runs: its base in 32, 16, 8 or 4 bits, with or without an adapter, in or out of
// autocast.
//
//     LinearSpec q{.in = 4096, .out = 4096, .size = 2, .r = 16, .adapter_size = 4};
//     Tensor y = linear(tape, mode, x, q);        // PEFT's lora.Linear: keeps a 16-bit copy of x for lora_A
//
// Sources: huggingface/peft src/peft/tuners/lora/layer.py Linear.forward, bnb.py Linear4bit.forward;
// bitsandbytes bitsandbytes/nn/modules.py Linear4bit, autograd/_functions.py MatMul4Bit, MatMul8bitLt.
#pragma once

#include "core/memory/layers/tuners.h"
#include "core/memory/tape/ops.h"
#include "core/recipe/quantization_formats.h"

namespace plimsoll::memory {

enum class Storage { plain, four_bit, eight_bit, packed };

/// So many weights in 4 bits share one fp32 scale, the absmax of their block (functional.quantize_4bit blocksize).
constexpr double absmax_block = 64;
/// The scales of so many weights in fp32.
inline double absmax_bytes(double weights) { return 4 * weights / absmax_block; }

struct LinearSpec {
  double in = 0, out = 0;  ///< features
  double copies = 1;       ///< modules that share the rows (experts)
  Storage storage = Storage::plain;
  int size = 2;  ///< bytes an element: of the weight, or of the weight before it was quantised
  bool bias = false;
  bool trainable = false;
  bool double_quant = false;
  int compute_size = 2;       ///< bnb_4bit_compute_dtype
  double packed_bits = 4;     ///< of a packed weight
  double packed_group = 128;  ///< weights that share a scale
  double packed_scale = 2.5;  ///< bytes of a group's scale and zero point
  bool packed_zero = true;    ///< the zero point is packed with the weights
  double packed_table = 0;    ///< bytes of a codebook (AQLM)
  bool packed_index = false;  ///< GPTQ keeps the group of every input
  recipe::Unpacking unpacking = recipe::Unpacking::whole;
  bool keeps_input = false;  ///< x, although the weight is frozen: bitsandbytes before 0.43.2, EETQ ...
  bool unpacks_to_other_type = false;  ///< quantised from one 16-bit type, multiplied in the other
  double r = 0;                        ///< rank of the adapter, 0: none
  double parts = 1;        ///< adapters on parts of a fused projection share x: that many A matrices
  double adapter_out = 0;  ///< columns that the adapters reach; 0: all of `out`
  bool on_q = true, on_k = true, on_v = true;  ///< the parts of a fused projection that are adapted
  bool stacked = false;                        ///< the adapter stands on one parameter for all experts
  int adapter_size = 4;
  double dropout = 0;
  bool dropout_module = false;  ///< there is one, be it switched off: DoRA takes its base result again
  bool dora = false;
  bool pruned = false;                       ///< AdaLoRA: divided by the ranks left, added in place
  bool fused = false;                        ///< one kernel for the whole adapter, with a backward of its own
  bool fused_input = false;                  ///< and its group keeps x beside the dropped copies
  const Tuner* tuner = nullptr;              ///< another method of PEFT's than LoRA
  double tuner_in = 0, tuner_out = 0;        ///< what its tensors are measured by
  bool tuner_scales_input = false;           ///< IA3 on a feed-forward module
  double tuner_trained = 0, tuner_rank = 0;  ///< elements it trains; elements a row that it keeps
  bool operator==(const LinearSpec&) const = default;
};

/// One of the modules that a fused one stands for: `out` of its columns, with a share of what another method
/// than LoRA trains of it.
inline LinearSpec part_of(LinearSpec spec, double out, bool adapted) {
  spec.tuner_trained *= out / spec.out;
  spec.out = out;
  spec.parts = 1;
  spec.adapter_out = 0;
  if (!adapted) spec.r = 0;
  return spec;
}

/// Columns that the adapter reaches.
inline double adapted(const LinearSpec& spec) { return spec.adapter_out > 0 ? spec.adapter_out : spec.out; }

/// nn.Linear of a weight that is neither quantised nor adapted.
Tensor plain_linear(Tape& tape, const Mode& mode, Tensor x, const LinearSpec& spec);

/// The base layer alone, however its weight is stored.
Tensor base_linear(Tape& tape, const Mode& mode, const Tensor& x, const LinearSpec& spec);

/// What DoRA adds to `result` of the base layer: (m/n - 1) base + m/n BAx, where m is trained and n the norm
/// of the adapted weight, which is built to be taken. With dropout the base result is made again, of the
/// dropped x (peft/tuners/lora/dora.py DoraLinearLayer.forward, variants.py DoraLinearVariant.forward).
Tensor dora(Tape& tape, const Mode& mode, const Tensor& x, const Tensor& result, const LinearSpec& spec);

/// x (rows x in) -> rows x out, in the dtype that PyTorch would return.
Tensor linear(Tape& tape, const Mode& mode, const Tensor& x, const LinearSpec& spec);

}  // namespace plimsoll::memory
