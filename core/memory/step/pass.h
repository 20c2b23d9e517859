// One stack of layers (the decoder, an encoder, a vision tower) under a recipe: each kind of layer is
// replayed once.
//
//     Stage text = replay_stack(settings);
//     text.runs.front().replay.saved.total();        // what one layer keeps for its backward
#pragma once

#include <string>
#include <vector>

#include "core/memory/parameters/parameters.h"
#include "core/memory/step/stage.h"

namespace plimsoll::memory {

struct PassSettings {
  const model::Stack* stack = nullptr;
  const recipe::Recipe* recipe = nullptr;
  std::string model_type;
  double compute_capability = 0;
  double batch = 1, length = 1;  ///< rows of this stack: images count as batch in a tower
  double cross_length = 0;
  int input_size = 2;            ///< dtype of the embedded input
  bool recorded = true;          ///< a graph is built (false: frozen and nothing upstream is trained)
  bool input_needs_grad = true;  ///< false: the first layer reads a frozen embedding, no hook on it
  bool cross_needs_grad = true;  ///< the states of another stack that its cross-attention reads
  bool checkpointing = false;
  bool mask = false;
  bool varlen = false;        ///< a kernel reads where each packed sample begins
  bool cross_mask = false;    ///< over the states that a decoder reads
  bool trained = false;       ///< the base weights of this stack
  bool adapters_off = false;  ///< PEFT's disable_adapter: the base weights alone run
  bool keep_kv = false;
  bool keeps_casts = true;  ///< without a graph: autocast keeps the casts of what is trained until the end
  const Sharding* sharding = nullptr;                    ///< null: every parameter is at hand
  const std::vector<GatheredLayer>* gathered = nullptr;  ///< of this stack, by group
  double prefix = 0;                 ///< prefix tuning: trained keys and values before those of every layer
  bool keep_hidden_states = false;   ///< output_hidden_states=True: every layer's output until the pass ends
  class ReplayMemo* memo = nullptr;  ///< layers that were replayed before, or null
  /// With a memo: what the network weighs under this recipe, where that is known.
  const Parameters* known_parameters = nullptr;
  bool traced = false;  ///< the events of each layer are written down
};

/// What a stack keeps for the backward outside its layers: before the first, behind the last of a tower or of an
/// encoder that a decoder reads, and what all layers share (position biases). stem.cpp names each.
double stem_bytes(const PassSettings& settings, const Stage& stage);

Stage replay_stack(const PassSettings& settings);

LayerProgram make_program(const PassSettings& settings, const model::LayerGroup& group);
/// The same without the attention kernel and the linears: what a head reads of the layers below it.
LayerProgram make_outline(const PassSettings& settings, const model::LayerGroup& group);
/// LitGPT's loop has the last `loss` at hand, and with it the nodes of that graph, until the next one is
/// known, and the last `logits` until the next are there (Lightning-AI/litgpt litgpt/finetune/lora.py fit).
/// Before 0.2 the longest sample came first, behind none.
bool keeps_last_graph(const recipe::Recipe& recipe);

/// The linears of a group as the recipe has them.
Linears specify_all(const model::LayerGroup& group, const model::Stack& stack, const recipe::Recipe& recipe);

}  // namespace plimsoll::memory
