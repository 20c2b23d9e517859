#include "core/memory/layers/attention.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/model/model_types.h"
#include "core/recipe/recipe.h"

namespace plimsoll::memory {

namespace {

double round_up(double value, double unit) { return std::ceil(value / unit) * unit; }

// `times` as large, while x stays.
Tensor copy_of(Tape& tape, const Tensor& x, double times = 1) {
  Tensor out = tape.make(x.elements() * times, x.size(), Component::transient);
  tape.record(out, {x}, {}, {gradient(0, x.bytes())});
  return out;
}

// transformers repeat_kv: expand and reshape, a copy unless there is one head to share. Backward sums the
// copies.
Tensor repeat(Tape& tape, Tensor x, double times) { return times <= 1 ? x : copy_of(tape, x, times); }

// In an order of its own: compilers differ in the one in which they destroy a function's parameters.
void let_go(Tensor& q, Tensor& k, Tensor& v) {
  v.free();
  k.free();
  q.free();
}

// Grouped key heads stay as they are, and the backward sums in registers.
Tensor flex(Tape& tape, const AttentionShape& s, Tensor q, Tensor k, Tensor v) {
  const double rows = s.batch * s.length;
  Tensor out = tape.make(rows * s.heads * s.value_head_dim, q.size(), Component::transient);
  Tensor log_sum = tape.make(rows * s.heads, 4, Component::transient);
  tape.record(out, {q, k, v}, {q, k, v, out, log_sum},
              {temporary(4 * rows * s.heads), gradient(0, q.bytes()), gradient(1, k.bytes()),
               gradient(2, v.bytes())});
  let_go(q, k, v);
  return out;
}

// What is added to the scores of a call, and kept: a mask's booleans as numbers
// (scaled_dot_product_attention: convert_boolean_attn_mask), or T5's position biases, laid out anew with the
// mask in them (transformers integrations/sdpa_attention.py create_position_bias_mask). Rows are padded
// (pad_bias).
Tensor added_to_scores(Tape& tape, const AttentionShape& s, int size) {
  const double row = round_up(s.key_length > 0 ? s.key_length : s.length, 16);
  if (s.bias_samples > 0) {
    return cast(tape, tape.make(s.bias_samples * s.heads * s.length * row, s.bias_size, Component::transient),
                size);
  }
  if (!s.converted_mask) return Tensor();
  return tape.make(s.batch * s.length * row, size, Component::transient);
}

Tensor fused(Tape& tape, AttentionKernel kernel, const AttentionShape& s, Tensor q, Tensor k, Tensor v) {
  const double rows = s.batch * s.length;
  const double padded = s.batch * round_up(s.length, 128);
  const double wide = round_up(s.head_dim, s.head_dim > 128 ? 64 : 32);
  const double keys = s.key_length > 0 ? s.key_length : s.length;
  Tensor bias = added_to_scores(tape, s, q.size());
  Tensor out = tape.make(rows * s.heads * s.value_head_dim, q.size(), Component::transient);
  Tensor log_sum = tape.make(rows * s.heads, 4, Component::transient);
  const bool flash = kernel != AttentionKernel::efficient;
  const double delta = 4 * s.heads * (flash ? padded : rows);
  const double query_sum = flash ? 4 * padded * s.heads * wide : 4 * q.elements();
  // Fewer key heads than query heads: flash's backward writes the gradients of all heads, then adds them up.
  const bool grouped = k.elements() * s.length < q.elements() * keys;
  const double expanded = grouped ? 2 * q.bytes() : 0;
  // Of each sample and head; then they are summed to those that were learned.
  const double bias_gradient = s.bias_gradient ? rows * s.heads * round_up(keys, 16) * q.size() : 0;
  tape.record(out, {q, k, v}, {q, k, v, out, log_sum, bias},
              {gradient(0, q.bytes()), gradient(1, k.bytes()), gradient(2, v.bytes()),
               temporary(bias_gradient), temporary(delta), temporary(query_sum), temporary(expanded)});
  let_go(q, k, v);
  return out;
}

// The softmax's backward where its result is fp32. softmax_backward_cuda makes grad * output before it writes
// the result (aten/src/ATen/native/cuda/SoftMax.cu); a result in fp32 is cast by a function of its own, when
// the product is gone.
void record_softmax(Tape& tape, const Tensor& weights, const Tensor& probabilities, double cast_bytes) {
  const Step product = temporary(probabilities.bytes()), result = gradient(0, weights.bytes());
  if (cast_bytes > 0) {
    tape.record(probabilities, {weights}, {probabilities},
                {product, temporary(cast_bytes), end_temporary(), result});
  } else {
    tape.record(probabilities, {weights}, {probabilities}, {product, result});
  }
}

Tensor weighted_sum(Tape& tape, const AttentionShape& s, const Tensor& weights, const Tensor& v) {
  Tensor mixed =
      tape.make(s.batch * s.length * s.heads * s.value_head_dim, weights.size(), Component::transient);
  tape.record(mixed, {weights, v}, {weights, v}, {gradient(0, weights.bytes()), gradient(1, v.bytes())});
  return mixed;
}

// The sum takes the wider type of the two; the gradient of scores that are narrower is cast back.
Tensor plus_mask(Tape& tape, const AttentionShape& s, Tensor scores) {
  if (scores.size() >= s.mask_size) return scale(tape, std::move(scores));
  Tensor sum = tape.make(scores.elements(), s.mask_size, Component::transient);
  tape.record_unread(sum, {scores}, {gradient(0, scores.bytes())});
  scores.free();
  return sum;
}

// softmax(QK^T) V with the scores in memory: Transformers eager_attention_forward. `query_size`: of the query that it
// was given, to whose type it casts the weights; autocast's product casts them once more.
Tensor written_out(Tape& tape, const AttentionShape& s, int query_size, Tensor q, Tensor k, Tensor v) {
  const double keys = s.key_length > 0 ? s.key_length : s.length;
  const double scores = s.batch * s.length * s.heads * keys;
  const int own = q.size(), size = s.scores_in_fp32 ? 4 : own;
  q = cast(tape, std::move(q), size);
  k = cast(tape, std::move(k), size);
  Tensor weights = tape.make(scores, size, Component::transient);
  tape.record(weights, {q, k}, {q, k}, {gradient(0, q.bytes()), gradient(1, k.bytes())});
  if (s.scores != nullptr) {  // baddbmm scales as it multiplies
    s.scores->push_back(weights);
  } else {
    weights = scale(tape, std::move(weights));
  }
  if (s.soft_capped) {  // divided by the cap, tanh, multiplied by the cap
    weights = scale(tape, std::move(weights));
    Tensor bent = tape.make(scores, size, Component::transient);
    tape.record(bent, {weights}, {bent}, {gradient(0, weights.bytes())});
    weights = scale(tape, std::move(bent));
  }
  weights = plus_mask(tape, s, std::move(weights));
  if (s.scores != nullptr) s.scores->push_back(weights);
  const int wide = s.fp32_softmax ? 4 : weights.size();  // in what the softmax works
  const bool widened = weights.size() != wide && s.bf16;
  Tensor copy_for_cast = widened ? tape.make(scores, wide, Component::transient) : Tensor();
  Tensor probabilities = tape.make(scores, wide, Component::transient);
  copy_for_cast.free();
  // For bfloat16 the fp32 result of the backward is cast afterwards.
  record_softmax(tape, weights, probabilities, widened ? scores * wide : 0);
  weights = s.cast_late ? probabilities : cast(tape, probabilities, s.cast_to_query ? query_size : own);
  probabilities.free();
  weights = dropout(tape, std::move(weights), s.dropout);
  if (s.frame != nullptr) s.frame->push_back(weights);
  weights = cast(tape, std::move(weights), own);
  Tensor mixed = copy(tape, weighted_sum(tape, s, weights, v));  // transpose(1, 2).contiguous()
  weights.free();
  let_go(q, k, v);
  return mixed;
}

// gpt-oss: transformers models/gpt_oss/modeling_gpt_oss.py eager_attention_forward. A sink joins each row of scores,
// the softmax keeps their type, and `attn_weights`, `combined_logits` and `probs` are names that stay.
Tensor with_sinks(Tape& tape, const AttentionShape& s, Tensor q, Tensor k, Tensor v) {
  const double rows = s.batch * s.length * s.heads;
  const double keys = s.key_length > 0 ? s.key_length : s.length;
  const int own = q.size();
  Tensor product = tape.make(rows * keys, own, Component::transient);
  tape.record(product, {q, k}, {q, k}, {gradient(0, q.bytes()), gradient(1, k.bytes())});
  Tensor weights = plus_mask(tape, s, scale(tape, std::move(product)));
  const int wide = weights.size();
  Tensor joined = tape.make(rows * (keys + 1), wide, Component::transient);
  tape.record_unread(joined, {weights}, {pass(0)});          // a narrowed view of the gradient
  Tensor places = tape.make(rows, 8, Component::transient);  // of the largest scores, which are subtracted
  Tensor logits = tape.make(joined.elements(), wide, Component::transient);
  tape.record(logits, {joined}, {places}, {temporary(joined.bytes()), pass(0)});
  places.free();
  joined.free();
  Tensor probabilities = tape.make(logits.elements(), wide, Component::transient);
  record_softmax(tape, logits, probabilities, 0);
  Tensor shares = dropout(tape, slice(tape, probabilities, rows * keys), s.dropout);
  weights = cast(tape, std::move(shares), own);
  if (s.frame != nullptr) s.frame->push_back(weights);
  Tensor mixed = copy(tape, weighted_sum(tape, s, weights, v));  // transpose(1, 2).contiguous()
  for (Tensor* variable : {&probabilities, &logits, &weights}) variable->free();
  let_go(q, k, v);
  return mixed;
}

// SDPA's math kernel computes in fp32, with scaled copies of q and k and a copy of k and v for every query
// head: pytorch/pytorch aten/src/ATen/native/transformers/attention.cpp _scaled_dot_product_attention_math,
// what it allocates and keeps as listed by tests/measured/math_attention.py. Its variables stay until it
// returns.
Tensor math(Tape& tape, const AttentionShape& s, Tensor q, Tensor k, Tensor v) {
  const double keys = s.key_length > 0 ? s.key_length : s.length;
  const double scores = s.batch * s.length * s.heads * keys;
  const double times = s.repeat_kv ? 1 : s.heads / s.kv_heads;
  const int size = q.size();
  q = cast(tape, std::move(q), 4);
  k = cast(tape, std::move(k), 4);
  v = cast(tape, std::move(v), 4);
  Tensor scaled_q = copy_of(tape, q);
  Tensor mask = tape.make(s.length * keys, 4, Component::transient);
  Tensor all_k = times > 1 ? copy_of(tape, k, times) : k;
  Tensor all_v = times > 1 ? copy_of(tape, v, times) : v;
  Tensor scaled_k = copy_of(tape, all_k);
  Tensor weights = tape.make(scores, 4, Component::transient);
  tape.record(weights, {scaled_q, scaled_k}, {scaled_q, scaled_k},
              {gradient(0, scaled_q.bytes()), gradient(1, scaled_k.bytes())});
  // The mask is added in place; _safe_softmax looks for rows that are masked out altogether.
  Tensor probabilities = tape.make(scores, 4, Component::transient);
  Tensor masked = tape.make(scores, 1, Component::transient);
  masked.free();
  record_softmax(tape, weights, probabilities, 0);
  weights.free();
  probabilities = dropout(tape, std::move(probabilities), s.dropout);
  // The weights are returned too, in the type of q.
  Tensor returned = size == 4 ? Tensor() : tape.make(scores, size, Component::transient);
  Tensor mixed = cast(tape, weighted_sum(tape, s, probabilities, all_v), size);
  for (Tensor* variable : {&q, &k, &v, &mask, &all_k, &returned}) variable->free();
  return copy(tape, std::move(mixed));  // transpose(1, 2).contiguous()
}

}  // namespace

Tensor attend(Tape& tape, const Mode& mode, AttentionKernel kernel, const AttentionShape& s, Tensor q,
              Tensor k, Tensor v) {
  const double times = s.repeat_kv ? s.heads / s.kv_heads : 1;
  k = repeat(tape, std::move(k), times);
  v = repeat(tape, std::move(v), times);
  const int query_size = q.size();
  // eager_attention_forward has names for what it repeated.
  const Tensor key_states = kernel == AttentionKernel::eager ? k : Tensor();
  const Tensor value_states = kernel == AttentionKernel::eager ? v : Tensor();
  if (mode.autocast || kernel == AttentionKernel::flash_2) {
    q = cast(tape, std::move(q), 2);
    k = cast(tape, std::move(k), 2);
    v = cast(tape, std::move(v), 2);
  }
  if (kernel == AttentionKernel::eager && s.kv_heads == 1 && s.heads > 1 && s.batch > 1) {
    // repeat_kv gives a view of one head; matmul lays it out for every query head (aten/src/ATen/native/
    // LinearAlgebra.cpp _matmul_impl: expand, reshape, bmm).
    k = copy_of(tape, k, s.heads);
    v = copy_of(tape, v, s.heads);
  }
  if (kernel == AttentionKernel::eager) {
    if (s.sinks) return with_sinks(tape, s, std::move(q), std::move(k), std::move(v));
    return written_out(tape, s, query_size, std::move(q), std::move(k), std::move(v));
  }
  if (kernel == AttentionKernel::flex) return flex(tape, s, std::move(q), std::move(k), std::move(v));
  if (kernel == AttentionKernel::math) return math(tape, s, std::move(q), std::move(k), std::move(v));
  return fused(tape, kernel, s, std::move(q), std::move(k), std::move(v));
}

namespace {

// Why flash cannot run, and what follows: Transformers hands over grouped key heads, which the
// memory-efficient kernel refuses.
struct NoFlash {
  std::string_view to_efficient, to_math;
};
constexpr NoFlash fp32 = {
    "q, k and v are fp32, which flash refuses",
    "q, k and v are fp32, which flash refuses; Transformers hands over grouped key heads, which the "
    "memory-efficient kernel refuses, so SDPA falls back to the math kernel, which keeps every attention "
    "score"};
constexpr NoFlash old_gpu = {
    "this GPU is older than Ampere and has no flash kernel",
    "this GPU is older than Ampere and has no flash kernel; Transformers hands over grouped key heads, which "
    "the memory-efficient kernel refuses, so SDPA falls back to the math kernel, which keeps every attention "
    "score"};
constexpr NoFlash wide_heads = {
    "flash stops at head size 256",
    "flash stops at head size 256; Transformers hands over grouped key heads, which the memory-efficient "
    "kernel refuses, so SDPA falls back to the math kernel, which keeps every attention score"};

}  // namespace

AttentionChoice choose_attention(const AttentionConditions& c) {
  const double capability = c.compute_capability == 0 ? 8.0 : c.compute_capability;
  const bool repeats = c.grouped && !c.one_kv_head;
  if (c.implementation == "eager") {
    return {AttentionKernel::eager, repeats, "attn_implementation=\"eager\" keeps every attention score"};
  }
  if (c.implementation == "flex_attention") {
    const bool power_of_two = (c.heads & (c.heads - 1)) == 0;
    return {
        AttentionKernel::flex, repeats && !power_of_two,
        power_of_two
            ? "flex_attention takes grouped key heads as they are"
            : "before flex_attention key heads are repeated where the number of heads is no power of two"};
  }
  if (c.implementation == "xformers")
    return {AttentionKernel::flash_2, repeats, "xformers is handed one key head for each query head"};
  const bool flash_attn = c.implementation == "flash_attention_2" || c.implementation == "flash_attention_3";
  if (flash_attn && c.head_dim <= 256) {
    const bool repeated = model::model_type(c.model_type).repeats_key_heads;
    if (repeated && repeats && !recipe::version_at_least(c.transformers, "4.48")) {
      return {AttentionKernel::flash_2, true, "this model class repeats key heads before flash attention"};
    }
    return {AttentionKernel::flash_2, false, "the flash-attn package takes grouped key heads as they are"};
  }
  if (c.varlen) {
    return {AttentionKernel::flash, repeats,
            "packed rows: torch's varlen_attn is handed one key head for each query head"};
  }
  // Falcon hands its one key head to the kernel as it is; flash and efficient want one for each query head.
  if (c.bare_kv_head && c.heads > 1) {
    return {AttentionKernel::math, false,
            "one key head for all queries, which only SDPA's math kernel takes"};
  }
  // axolotl loaders/patch_manager.py _apply_gemma_hybrid_attention: layers with heads that flash-attn refuses
  // run SDPA, under a mask of their own.
  const bool mask = c.mask || flash_attn;
  // use_gqa_in_sdpa: without a mask, key heads go to the kernel as they are; heads wider than 256 from 4.54
  // to 5.12 too.
  const bool native = recipe::version_at_least(c.transformers, "4.54") && !mask &&
                      (c.head_dim <= 256 || !recipe::version_at_least(c.transformers, "5.13"));
  const NoFlash* no_flash = !c.sixteen_bit     ? &fp32
                            : capability < 8.0 ? &old_gpu
                            : c.head_dim > 256 ? &wide_heads
                                               : nullptr;
  if (no_flash != nullptr && repeats && native && !c.own_calls)
    return {AttentionKernel::math, false, no_flash->to_math};
  // masking_utils makes booleans (4.53 on); before, one mask of numbers served all layers.
  const bool converted = mask && !c.own_calls && recipe::version_at_least(c.transformers, "4.53");
  if (c.position_bias) {
    return {AttentionKernel::efficient, repeats,
            "position biases are added to the scores, which flash refuses", converted};
  }
  if (no_flash != nullptr) return {AttentionKernel::efficient, repeats, no_flash->to_efficient, converted};
  if (mask) {
    return {AttentionKernel::efficient, repeats, "padding makes an attention mask, which flash refuses",
            converted};
  }
  return {AttentionKernel::flash, repeats && !native, "no mask, 16 bits, Ampere or newer: SDPA picks flash"};
}

}  // namespace plimsoll::memory
