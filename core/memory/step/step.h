// A network under a recipe, replayed: its stacks, and head and loss.
//
//     Parameters parameters = parameters_of(network, recipe, machine);
//     Plan plan = make_plan(network, recipe, machine, parameters);
//     NetworkRun text = replay_network(plan, false);
//     text.head.backward_peak.total();           // highest while the loss goes backward
#pragma once

#include "core/memory/head/head.h"
#include "core/memory/layers/images.h"
#include "core/memory/parameters/parameters.h"
#include "core/memory/step/pass.h"
#include "core/memory/step/step_program.h"
#include "core/recipe/tasks.h"

namespace plimsoll::memory {

/// What the replay must know of the GPU.
struct Machine {
  double compute_capability = 0;     ///< 0: unknown, taken as Ampere
  double workspace_bytes = 8519680;  ///< one cuBLAS workspace (core/hardware cublas_workspace_bytes)
  double total_bytes = 0;            ///< of the whole GPU; 0: none was chosen
  class ReplayMemo* memo = nullptr;  ///< layers that were replayed before, or null (replay_memo.h)
  /// With a memo: what its network weighs under the recipe that is replayed, where that is known.
  const Parameters* known_parameters = nullptr;
};

/// Everything a step is replayed from.
struct Plan {
  const model::Architecture& network;
  const recipe::Recipe& recipe;
  const Machine& machine;
  const Parameters& parameters;
  ImageLoad images;
  const Sharding* sharding = nullptr;  ///< null: one GPU holds everything
  const recipe::Task* task = nullptr;
  double rows = 1;  ///< sequences that go through the network at once: two for a pair
};
/// What the network weighs under the recipe, from the machine's memo where it knows.
Parameters parameters_of(const model::Architecture& network, const recipe::Recipe& recipe,
                         const Machine& machine);
Plan make_plan(const model::Architecture& network, const recipe::Recipe& recipe, const Machine& machine,
               const Parameters& parameters);
/// The same network and batch under another recipe, which outlives it.
Plan with_recipe(const Plan& plan, const recipe::Recipe& recipe);
/// The same on one rank, which outlives it and may compute in types of its own.
Plan on_rank(const Plan& plan, const recipe::Recipe& computing, const Sharding& rank);

/// The network as a micro-batch goes through it. `traced`: with the events of its layers and its head, at
/// some cost in time.
NetworkRun replay_network(const Plan& plan, bool traced);

/// A layer's gradients never stay where they were made, even when there were none before.
bool gradients_pass(const Plan& plan);
/// The same of the head.
bool head_gradients_pass(const Plan& plan);

/// What a forward pass without a graph is asked for.
struct Asked {
  double scored = 0;           ///< tokens of each sequence that have logits, 0: all
  bool hidden_states = false;  ///< every layer's output is kept until it ends (output_hidden_states=True)
  bool keys = false;           ///< keys and values too, in the type in which the attention gets them
  bool reference = false;      ///< a frozen model runs, of whose weights autocast keeps no casts
  bool decodes = false;  ///< tokens that follow a prompt: no image and no virtual token goes before them
};

/// Highest of that pass, of `rows` sequences of `length` tokens.
Snapshot replay_without_grad(const Plan& plan, double rows, double length, const Asked& asked);

/// Trained tokens that prompt and P-tuning put before a sequence.
double prompt_tokens(const recipe::Recipe& recipe);

/// Keys and values that the cache holds of `rows` whole sequences, virtual tokens among them.
double cache_bytes(const Plan& plan, double rows);

/// The batches of a step on the device, which a training loop holds until it takes the next ones.
double batch_bytes(const Plan& plan);

/// With them what the model makes of a batch before its first layer: attention masks, rotary tables.
double input_bytes(const Plan& plan);

/// A trained embedding's dense gradient, when it meets one that is there already.
Snapshot embedding_gradient(const Plan& plan);

const Snapshot& higher(const Snapshot& a, const Snapshot& b);

}  // namespace plimsoll::memory
