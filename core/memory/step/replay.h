// A whole training run, replayed: what is alive on one GPU, the fullest, at each instant of a step.
//
// Example, the peak and when it is reached:
//
//     Replay run = replay(network, recipe, machine);
//     const Instant& peak = run.at_peak();
//     peak.phase;                       // Phase::optimizer_step
//     peak.live.total();                // bytes that torch.cuda.max_memory_allocated() would print
//     peak.live[Component::gradients];
//
// Instants are taken in the steady state (the second step and later), when optimizer states exist during the
// forward pass. The peak of a run is the highest instant, never a sum of maxima.
#pragma once

#include <string_view>
#include <vector>

#include "core/memory/parameters/parameters.h"
#include "core/memory/step/phase.h"
#include "core/memory/step/step.h"

namespace plimsoll::memory {

struct Instant {
  Phase phase = Phase::load;
  Snapshot live;
  std::string_view what;       ///< one sentence
  double outside = 0;          ///< bytes on the device outside PyTorch's count, the context apart
  double gathered_before = 0;  ///< what a stream of its own keeps for other layers (gather_stream.h)
  double apart = 0;  ///< what instants of a step hold one after another and cannot share (component_peaks.h)
  bool has_states = false;  ///< of the optimizer, which exist by then
  double host_bytes = 0;    ///< RAM that is needed then, where that is known; 0: what is there all the time
};

struct Replay {
  std::vector<Instant> instants;
  std::size_t peak = 0;
  const Instant& at_peak() const { return instants[peak]; }
  Snapshot between_steps;  ///< what stands while the model is evaluated
  Parameters parameters;
  Sharding sharding;                     ///< what one rank holds
  std::vector<double> device_map_peaks;  ///< where device_map spreads the layers: allocated, by GPU
  double state_bytes = 0;                ///< states of all ranks together, wherever they lie
  double host_bytes = 0;                 ///< RAM of the process, at least
  std::string_view attention;            ///< why this kernel
  double last_graph = 0;                 ///< of the micro-batch before, which the first one has not
};

/// Whether the instant comes again with every step.
bool repeats(const Instant& instant);

/// The highest instant until the first optimizer step is over, and its allocated bytes: what a run must
/// survive to get going at all. The states of the optimizer do not exist before that step
/// (torch/optim/adam.py _init_group), so a run whose peak is a forward pass of later steps may first touch
/// its limit in the optimizer.
struct FirstStep {
  Phase phase = Phase::load;
  double allocated = 0;
};
FirstStep first_step(const Replay& run, const recipe::Recipe& recipe);

struct StepProgram;

/// What one rank holds, and what a step takes besides where it is taken: at once, in the backward or on the host.
Sharding rank_of(const model::Architecture& network, const recipe::Recipe& recipe,
                 const Parameters& parameters);

/// Replays `recipe` on `network`. `program` receives what unroll.h writes the whole run from, at some cost in
/// time; null: nothing is kept.
Replay replay(const model::Architecture& network, const recipe::Recipe& recipe, const Machine& machine,
              StepProgram* program = nullptr);

}  // namespace plimsoll::memory
