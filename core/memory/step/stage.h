// One stack of layers (the decoder, an encoder, a vision tower) as a run takes it: its layers, replayed, and
// what is kept around them.
#pragma once

#include <string_view>
#include <vector>

#include "core/memory/sharding/sharding.h"
#include "core/memory/step/layer_replay.h"

namespace plimsoll::memory {

/// Equal layers that follow each other.
struct LayerRun {
  LayerReplay replay;
  double layers = 0;
  Snapshot selected;  ///< of each layer, kept beside its input: what selective checkpointing does not compute
                      ///< again
  std::vector<double> unreached;  ///< besides, each: what nodes hold where no hook sees it, offloaded or not
  double on_nodes = 0;            ///< of each layer: what the nodes of its graph hold after the backward too
  GatheredLayer gathered;
  LayerTrace trace;  ///< empty unless it was asked for
};

struct Stage {
  const char* part = "";
  std::vector<LayerRun> runs;
  bool recorded = true;        ///< a graph is built
  bool checkpointing = false;  ///< only the inputs of the layers are kept; each runs again in the backward
  bool stop_early = false;     ///< recomputation ends at the last tensor that is saved
  bool keeps_casts = true;     ///< without a graph: autocast keeps the casts of what is trained until the end
  bool gradients_pass = false;  ///< a layer's gradients are added to others: none stays where it was made
  double offload_buffers = 0;  ///< layer inputs wait in host memory, and pass through these bytes; 0: none do
  double standing = 0;         ///< without a graph: layer inputs that are held while the layers run
  double stem = 0;             ///< kept from before the first layer until its backward is over
  double output_bytes = 0;     ///< of the last hidden state
  int output_size = 2;
  bool output_needs_grad = true;
  std::string_view attention;   ///< why this kernel
  double kv_bytes = 0;          ///< keys and values of all layers
  double weight_gradients = 0;  ///< of all layers
  double host_bytes = 0;        ///< layer inputs that wait for the backward in host memory
};

}  // namespace plimsoll::memory
