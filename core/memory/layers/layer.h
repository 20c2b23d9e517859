// One transformer layer as a program over the tape, for every family in presets/models.
//
//     LayerProgram program = ...;                       // group, linears, settings
//     Tape tape;
//     Tensor x = tape.input(tokens * hidden, 2, true);
//     Tensor y = run_layer(tape, program, x);
//
// Follows the forward() of huggingface/transformers src/transformers/models/*/modeling_*.py: which local
// variables are alive when a tensor is made decides the forward peak.
#pragma once

#include <array>
#include <vector>

#include "core/memory/layers/attention.h"
#include "core/memory/layers/linear.h"
#include "core/model/architecture.h"
#include "core/recipe/implementations.h"

namespace plimsoll::memory {

constexpr std::size_t role_count = static_cast<std::size_t>(model::Role::other) + 1;
/// By role; out == 0: the layer has none.
struct Linears : std::array<LinearSpec, role_count> {
  bool operator==(const Linears& other) const {
    for (std::size_t i = 0; i < role_count; ++i) {
      const LinearSpec &a = (*this)[i], &b = other[i];
      if ((a.out != 0 || b.out != 0) && !(a == b)) return false;
    }
    return true;
  }
};

struct LayerProgram {
  const model::LayerGroup* group = nullptr;
  Linears linears{};
  /// Whose forward() runs: the operations are the same; who keeps which local variable, and what is fused, is not.
  const recipe::Implementation* implementation = &recipe::find_implementation("transformers");
  bool plain_rms_norm = false;  ///< RMSNorm in the dtype of x, without fp32 (lit-gpt until 24 October 2023)
  Mode mode;
  AttentionChoice attention, cross_attention;
  double batch = 1, length = 1;
  double hidden = 0;
  int norm_size = 2;  ///< dtype of the norm weights
  bool train_norms = false;
  bool bf16 = true;
  bool liger_norm = false, liger_mlp = false, liger_rotary = false;  ///< Liger's kernels
  bool copies_slices =
      false;  ///< which copy what is not contiguous (liger_kernel ops/utils.py ensure_contiguous)
  bool dropout_off = false;           ///< of the network's own: the trainer switched the modules off
  bool output_copy = false;           ///< the attention output is laid out anew before the output projection
  bool keep_kv = false;               ///< a cache keeps K and V until the outputs die
  std::vector<Tensor>* kv = nullptr;  ///< where that cache is
  bool returns_weights = false;       ///< and so does the loop over layers, until the next one returns
  bool keeps_frame = false;           ///< the caller frees it
  bool holds_weights = false;         ///< forward() gets eager attention's weights too, and keeps the name
  std::vector<Tensor>* frame = nullptr;  ///< what such names hold until the layer returns
  double cross_length = 0;               ///< states a sample that cross-attention reads
  const Tensor* cross_states = nullptr;
  double prefix = 0;    ///< prefix tuning: keys and values before the sequence
  double adaption = 0;  ///< adaption prompt: trained tokens that the layer attends to besides

  bool stacked_experts = false;   ///< one parameter for all experts, multiplied at once (Transformers 5)
  bool expert_slices = false;     ///< one parameter for all experts, a slice of it at a time
  bool grouped_stand_in = false;  ///< without torch's grouped_mm kernel
  bool folded_factors = true;     ///< PEFT adds B A to a parameter in one product (since 0.21)
  bool weight_each_time = false;  ///< and does so whenever the parameter is read (until 0.19)

  bool torch_kernels = false;    ///< a delta-net or a state-space mixer runs without its kernels' packages
  bool scans_by_einsum = true;   ///< and the latter's products are matrix products
  bool repeats_keys = false;     ///< of a delta-net, for each of its value heads
  bool solves_triangles = true;  ///< and inverts each chunk's triangle at once
  bool fused_gate_norm = true;   ///< the norm of a delta-net is flash-linear-attention's

  const LinearSpec& at(model::Role role) const { return linears[static_cast<std::size_t>(role)]; }
  double dropped(double share) const { return dropout_off ? 0 : share; }
  bool has(model::Role role) const { return at(role).out > 0; }
  bool operator==(const LayerProgram&) const = default;
};

/// One of the layer's linears on x.
Tensor run_linear(Tape& tape, const LayerProgram& program, model::Role role, const Tensor& x);

/// x: rows of `hidden`. Returns the layer's output.
Tensor run_layer(Tape& tape, const LayerProgram& program, const Tensor& x);
/// Keys or values with those that prefix tuning trains before them.
Tensor with_prefix(Tape& tape, const LayerProgram& program, const Tensor& states);

}  // namespace plimsoll::memory
