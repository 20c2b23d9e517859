// The traces of one layer, cut into what a whole pass plays again and again: forward, recomputation,
// backward.
//
//     LayerForms forms = layer_forms(run, stage);
//     for (const Event& event : forms.backward) ...        // numbers are those of the layer's own tape
#pragma once

#include "core/memory/head/head.h"
#include "core/memory/step/stage.h"

namespace plimsoll::memory {

struct LayerForms {
  Trace forward;    ///< with or without a graph, as the pass runs it
  Trace cache;      ///< what autocast still holds then: dropped when the forward of the network ends
  Trace kv_cache;   ///< keys and values made in it, alive until the outputs die
  Trace recompute;  ///< the layer once more, as far as autograd asks for it; empty without checkpointing
  Trace backward;   ///< all that its frames hold is released at its end
  Trace gradients;  ///< of parameters, which outlive it
  uint32_t forward_input = 0, forward_output = 0;  ///< tensors that the neighbours own
  uint32_t seed = 0;                               ///< the gradient that arrives
  uint32_t input_gradient = 0;                     ///< the one that goes on; only with has_input_gradient
  bool has_input_gradient = false;
  uint32_t tensors = 0;  ///< numbers that the layer uses
};

LayerForms layer_forms(const LayerRun& run, const Stage& stage);

/// What a micro-batch that finds no gradients does otherwise than one that adds to them: those that passed
/// through, released as soon as they were made, stay.
void keep_gradients(LayerForms& forms);
void keep_gradients(HeadTrace& head);

}  // namespace plimsoll::memory
