// Attention kernels: what each keeps and what its backward needs.
//
//     AttentionShape shape{.batch = 4, .length = 1536, .heads = 32, .kv_heads = 8, .head_dim = 128};
//     Tensor out = attend(tape, mode, AttentionKernel::flash, shape, q, k, v);
//
// Sources: Dao-AILab/flash-attention csrc/flash_attn/flash_api.cpp mha_fwd, mha_bwd; pytorch/pytorch
// aten/src/ATen/native/transformers; huggingface/transformers integrations/sdpa_attention.py,
// integrations/flex_attention.py; pytorch/pytorch torch/_inductor/kernel/flex_attention.py.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/memory/tape/ops.h"

namespace plimsoll::memory {

enum class AttentionKernel {
  flash,      ///< FlashAttention through SDPA
  flash_2,    ///< the flash-attn package
  flex,       ///< torch's flex_attention, compiled
  efficient,  ///< SDPA's memory-efficient kernel
  math,       ///< SDPA's fallback: scores in memory
  eager,      ///< written out in Python
};

struct AttentionShape {
  double batch = 1, length = 1;  ///< of the queries
  double key_length = 0;         ///< of keys and values; 0: the same
  double heads = 1, kv_heads = 1, head_dim = 1, value_head_dim = 1;
  bool repeat_kv = true;        ///< K and V are copied to the number of query heads
  bool fp32_softmax = true;     ///< eager: softmax(dtype=float32), then cast back
  bool cast_late = false;       ///< eager: what the softmax makes is cast behind the dropout
  bool cast_to_query = true;    ///< eager: or to the type of the query before autocast, else of the value
  bool scores_in_fp32 = false;  ///< eager: q and k are cast first
  bool soft_capped = false;     ///< eager: cap * tanh(scores / cap)
  bool sinks = false;           ///< eager: a learned number joins each row of scores (gpt-oss)
  int mask_size = 2;            ///< eager: of the mask, which has the type of the embedded tokens
  bool converted_mask = false;  ///< efficient: each call makes numbers of the mask's booleans, and keeps them
  double bias_samples = 0;  ///< efficient: position biases for that many samples are made and kept; 0: none
  int bias_size = 2;        ///< bytes an element, before autocast casts them
  bool bias_gradient = false;  ///< they are trained
  bool bf16 = true;            ///< the 16-bit type; float16 needs one copy less in the softmax
  double dropout = 0;
  std::vector<Tensor>* frame = nullptr;  ///< eager: where the caller holds on to the weights
  /// BLOOM: where its own forward() holds on to what became of q and k.
  std::vector<Tensor>* scores = nullptr;
};

/// q, k, v as rotated: rows of heads * head_dim. Returns rows of heads * value_head_dim.
Tensor attend(Tape& tape, const Mode& mode, AttentionKernel kernel, const AttentionShape& shape, Tensor q,
              Tensor k, Tensor v);

/// Which kernel runs, and why, in words for the report.
struct AttentionChoice {
  AttentionKernel kernel = AttentionKernel::flash;
  bool repeat_kv = true;
  std::string_view why;
  bool converted_mask = false;
  bool operator==(const AttentionChoice&) const = default;
};

struct AttentionConditions {
  std::string implementation;  ///< attn_implementation
  std::string model_type;
  std::string transformers;         ///< version
  double compute_capability = 8.0;  ///< 0: not an NVIDIA GPU, taken as 8.0
  bool own_calls = false;           ///< Unsloth: its own code chooses the kernel where flash cannot run
  bool sixteen_bit = true;          ///< q, k, v are 16-bit when the kernel starts
  bool mask = false;                ///< a mask is built (padding)
  bool varlen = false;              ///< sdpa stands for torch's varlen_attn
  bool position_bias = false;       ///< numbers are added to the scores
  bool grouped = false;             ///< fewer key heads than query heads
  bool one_kv_head = false;
  bool bare_kv_head = false;  ///< which the model's own code does not repeat for the kernel
  double head_dim = 128;
  uint64_t heads = 32;  ///< of the queries
};
AttentionChoice choose_attention(const AttentionConditions& conditions);

}  // namespace plimsoll::memory
