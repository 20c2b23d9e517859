// All that a run is composed from (composer.h): what its layers, its head and its optimizer take, and what is
// there all the time.
//
//     StepProgram program;
//     Replay run = replay(network, recipe, machine, &program);
//     program.networks.back().stages.back().runs.front().trace.graph;       // the events of one decoder layer
#pragma once

#include <vector>

#include "core/memory/head/head.h"
#include "core/memory/parameters/resident.h"
#include "core/memory/step/stage.h"

namespace plimsoll::memory {

/// A network as a micro-batch goes through it.
struct NetworkRun {
  std::vector<Stage> stages;  ///< in the order of the forward pass
  HeadReplay head;
  HeadTrace head_trace;      ///< empty unless it was asked for
  bool head_passes = false;  ///< the head's gradient is added to another, or used up: it does not stay
  double embedded_leaf = 0;  ///< embedded tokens beside the first layer's input, which is made of them
};

struct StepProgram {
  /// In the order of their forward; the last one is the first to go backward.
  std::vector<NetworkRun> networks;
  Snapshot base;          ///< weights, adapters, optimizer states, inputs, workspaces
  Snapshot scored;        ///< what the reference said, where a loop of one's own holds on to it
  double last_graph = 0;  ///< what its nodes hold until the loss of the next micro-batch is known
  double embedding_gradient = 0;
  bool gradients_outlive_step = false;
  bool accumulates = false;  ///< more than one micro-batch a step
  /// A gradient never stays where it was made, even when there was none before: of the layers, of the head.
  bool gradients_pass = false, head_gradients_pass = false;

  double loaded = 0;  ///< bytes of the weights as from_pretrained leaves them
  double staged = 0;  ///< of the largest matrix beside its packed form

  // Of a run that is written down tensor by tensor.
  std::vector<Resident> weights;         ///< as they arrive
  std::vector<double> trained_tensors;   ///< bytes of each
  std::vector<double> optimizer_states;  ///< bytes of each tensor that the first step makes
};

}  // namespace plimsoll::memory
