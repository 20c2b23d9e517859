// The operation table: what each PyTorch operation keeps for backward and what its backward allocates.
//
// One operation, one function; layers/layer.cpp and head/head.cpp are written with them. Arguments
// taken by value die inside the operation when the caller moves them in, as a Python temporary does.
//
//     Tensor h = cast(tape, x, 4);                         // x.to(torch.float32)
//     Tensor gated = activation(tape, mode, model::Activation::silu, linear(tape, mode, x, gate));
//     Tensor y = multiply(tape, std::move(gated), linear(tape, mode, x, up));
//
// Sources: pytorch/pytorch tools/autograd/derivatives.yaml and the kernels it names; autocast lists in
// aten/src/ATen/autocast_mode.h. Elements and features are counts, sizes are bytes an element.
#pragma once

#include "core/memory/tape/tape.h"
#include "core/model/architecture.h"

namespace plimsoll::memory {

struct Mode {
  bool autocast = false;  ///< torch.autocast to a 16-bit type is on
  bool operator==(const Mode&) const = default;
};

/// x.to(dtype). The same tensor when nothing changes.
Tensor cast(Tape& tape, Tensor x, int size);

/// a * b, both tensors. Keeps each factor whose partner needs a gradient.
Tensor multiply(Tape& tape, Tensor a, Tensor b);

/// x * v, one trained number of `size` bytes for each column, broadcast over the rows: keeps x. The gradient
/// of v is as large as the result before it is summed, and stands beside that of x.
Tensor scale_columns(Tape& tape, Tensor x, int size);

/// result += update, where the result's type stays.
Tensor add_in_place(Tape& tape, const Tensor& result, Tensor update);

/// x * number, -x: a new tensor, nothing kept.
Tensor scale(Tape& tape, Tensor x);

/// a + b: nothing kept, the gradient is handed on.
Tensor add(Tape& tape, Tensor a, Tensor b);

/// x.contiguous(), x.clone(), torch.cat of views: a copy, nothing kept.
Tensor copy(Tape& tape, Tensor x);

/// A slice x[..., a:b]: shares the storage; its gradient is a zero-filled tensor of x's full size.
Tensor slice(Tape& tape, const Tensor& x, double elements);

/// Elementwise activation. silu, gelu, relu are one kernel; gelu_new and quick_gelu are written in Python.
/// `trainable`: its scalars are, where it has any (xIELU). Autocast runs a power in fp32.
Tensor activation(Tape& tape, const Mode& mode, model::Activation kind, Tensor x, bool trainable = false);

/// gpt-oss: min(gate, limit) * sigmoid(1.702 * that) * (clamp(up) + 1) on the two interleaved halves of
/// `both` (transformers models/gpt_oss GptOssExperts._apply_gate).
Tensor clamped_glu(Tape& tape, const Tensor& both);

/// F.dropout in training: keeps a mask of one byte an element. Nothing at all for p = 0.
Tensor dropout(Tape& tape, Tensor x, double p);

/// The Python RMSNorm of Transformers over rows of `width`; `weight_size` is the dtype of its weight, 0 for
/// none. `fp32_product` is Gemma's: multiply by the weight in fp32, then cast back.
Tensor rms_norm(Tape& tape, Tensor x, double width, int weight_size, bool trainable, bool fp32_product);

/// RMSNorm written out in the dtype of x: x * rsqrt(mean(x * x)) * weight.
Tensor plain_rms_norm(Tape& tape, Tensor x, double width, bool trainable);

/// F.layer_norm, of whose weight and bias `trained` bytes get a gradient. Under autocast it runs in fp32 and
/// returns fp32.
Tensor layer_norm(Tape& tape, const Mode& mode, Tensor x, double width, double trained);

/// LayerNorm in fp32, statement by statement: transformers models/cohere/modeling_cohere.py CohereLayerNorm.
Tensor written_out_norm(Tape& tape, Tensor x, double width, int weight_size, bool trainable);

/// The norm of this kind, by one of the functions above; parameters of `weight_size` bytes each.
Tensor any_layer_norm(Tape& tape, const Mode& mode, const model::Norm& norm, Tensor x, int weight_size,
                      bool trainable);

/// Liger's RMSNorm: keeps x and one number a row.
Tensor fused_rms_norm(Tape& tape, Tensor x, double width, bool trainable);

/// q * cos + rotate_half(q) * sin, the tables in `table_size` bytes: the result is promoted to it.
Tensor rotate(Tape& tape, const Tensor& q, int table_size);

}  // namespace plimsoll::memory
