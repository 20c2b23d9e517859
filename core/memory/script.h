// What replay() leaves behind when it is asked to: all that the unrolled list of a run is written from.
//
//     Script script;
//     replay(network, recipe, machine, &script);
//     script.stages.back().runs.front().trace.graph;       // the events of one decoder layer
#pragma once

#include <vector>

#include "core/memory/head.h"
#include "core/memory/pass.h"
#include "core/memory/resident.h"

namespace plimsoll::memory {

struct Script {
  /// One stack of layers, in the order of the forward pass.
  struct Stage {
    std::vector<LayerRun> runs;
    const char* part = "";
    bool recorded = true, checkpointing = false;
    bool stop_early = false;     ///< recomputation ends at the last tensor that is saved
    double offload_buffers = 0;  ///< layer inputs wait in host memory, and pass through these bytes
    double output_bytes = 0;     ///< of its last hidden state
    double stem = 0;             ///< kept from before its first layer
    double standing = 0;         ///< bytes held from its first layer to its last when no graph is built
  };
  std::vector<Stage> stages;
  HeadTrace head;
  std::vector<Resident> weights;         ///< tensor by tensor
  std::vector<double> trained_tensors;   ///< bytes of each
  std::vector<double> optimizer_states;  ///< bytes of each tensor that the first step makes
  double loaded = 0;                     ///< weights as they arrive
  double quantising = 0;                 ///< beside them, the largest matrix before it is packed
  Snapshot base;                         ///< weights, adapters, optimizer states, inputs, workspaces
  double trained = 0;                    ///< gradients that are there when the optimizer steps
  double optimizer_working = 0;          ///< temporaries of step()
  double embedding_gradient = 0;
  double embedded_leaf = 0;  ///< embedded tokens beside the first layer's input, which is made of them
  Snapshot scored;           ///< what the reference said, where a loop of one's own holds on to it
  bool gradients_outlive_step = false;
  bool accumulates = false;  ///< more than one micro-batch a step
  /// A gradient never stays where it was made, even when there was none before: of the layers, of the head.
  bool gradients_pass = false, head_gradients_pass = false;

  // Of a rank; see Sharding, whose names these are.
  double root = 0, head_gathered = 0;
  double gradient_share = 1, head_gradient_share = 1, gradient_copies = 0, root_gradients = 0,
         resident_gradients = 0, accumulated = 0;
  double backward_buckets = 0, reduced = 0;
  bool keeps_boundaries = false;
};

}  // namespace plimsoll::memory
