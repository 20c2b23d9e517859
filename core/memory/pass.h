// One stack of layers (the decoder, an encoder, a vision tower) going forward and backward, in closed form
// over its repeated layers.
//
//     Pass text = replay_pass(settings);
//     text.retained.total();        // what stays until its backward: boundaries, or all saved tensors
//
// With L equal layers the k-th backward runs while k boundaries and L-k layers' gradients exist; both change
// by a constant from layer to layer, so the highest moment is at the first or at the last layer.
#pragma once

#include <string_view>
#include <vector>

#include "core/memory/layer_replay.h"
#include "core/memory/parameters.h"
#include "core/memory/sharding.h"

namespace plimsoll::memory {

struct PassSettings {
  const model::Stack* stack = nullptr;
  const recipe::Recipe* recipe = nullptr;
  std::string transformers, model_type;
  double compute_capability = 0;
  double batch = 1, length = 1;  ///< rows of this stack: images count as batch in a tower
  double cross_length = 0;
  int input_size = 2;            ///< dtype of the embedded input
  bool recorded = true;          ///< a graph is built (false: frozen and nothing upstream is trained)
  bool input_needs_grad = true;  ///< false: the first layer reads a frozen embedding, no hook on it
  bool cross_needs_grad = true;  ///< the states of another stack that its cross-attention reads
  bool checkpointing = false;
  bool mask = false;
  bool trained = false;  ///< the base weights of this stack
  bool keep_kv = false;
  bool keeps_casts = true;  ///< without a graph: autocast keeps the casts of what is trained until the end
  const Sharding* sharding = nullptr;       ///< null: every parameter is at hand
  const std::vector<Lent>* lent = nullptr;  ///< of this stack, by group
  double prefix = 0;                 ///< prefix tuning: trained keys and values before those of every layer
  bool keep_hidden_states = false;   ///< output_hidden_states=True: every layer's output until the pass ends
  class ReplayMemo* memo = nullptr;  ///< layers that were replayed before, or null
  const Parameters* weighed = nullptr;  ///< with a memo: what the network weighs under this recipe, if known
  std::vector<struct LayerRun>* runs = nullptr;  ///< where the layers are written down one by one, or null
};

/// Equal layers that follow each other.
struct LayerRun {
  LayerReplay replay;
  double layers = 0;
  Snapshot selected;  ///< of each layer, kept beside its input: what selective checkpointing does not compute
                      ///< again
  Lent lent;
  LayerTrace trace;  ///< empty unless it was asked for
};

struct Pass {
  int output_size = 2;
  bool output_needs_grad = true;
  double output_bytes = 0;  ///< of the last hidden state
  double cached = 0;        ///< autocast cache of all layers, until the forward ends; not in `retained`
  double kv_bytes = 0;
  double weight_gradients = 0;  ///< of all layers
  double standing = 0;          ///< without a graph: layer inputs that are held while the pass runs
  double host_bytes = 0;        ///< layer inputs that wait for the backward in host memory
  double stem = 0;              ///< kept from before the first layer until the pass has gone backward
  double offload_buffers = 0;   ///< and the bytes on the GPU through which they pass, 0: none do
  Snapshot retained;            ///< after the forward, until the backward
  Snapshot forward_peak;        ///< highest in the forward, incl. what is retained then
  Snapshot backward_peak;       ///< highest in the backward, incl. what is retained then
  std::string_view attention;   ///< why this kernel
};

/// What lies between the embedding and the first layer and is kept for the backward: the input of a norm, the
/// mask of a dropout, and the embedded tokens themselves where a hook has made them a leaf (Transformers
/// enable_input_require_grads) and the layers read something made of them. With it, the same behind an
/// encoder that a decoder reads.
double stem_bytes(const PassSettings& settings);

Pass replay_pass(const PassSettings& settings);

LayerProgram make_program(const PassSettings& settings, const model::LayerGroup& group);
/// The same without the attention kernel and the linears: what a head reads of the layers below it.
LayerProgram make_outline(const PassSettings& settings, const model::LayerGroup& group);
/// The linears of a group as the recipe has them.
Linears specify_all(const model::LayerGroup& group, const model::Stack& stack, const recipe::Recipe& recipe);

}  // namespace plimsoll::memory
