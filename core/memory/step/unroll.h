// A run as the list of its allocations and releases, layer by layer: load, preparation, the first step and a
// later one.
//
//     Unrolled run = unroll(network, recipe, machine);
//     for (const Section& s : run.sections)                     // "forward", layer 7
//       for (std::size_t i = s.from; i < s.to; ++i) print(run.events[i].what, run.events[i].bytes);
//
// It is composed as the peaks of replay() are (composer.h), and holds the same bytes at each moment. Of a
// step that accumulates, two micro-batches are written: the one that makes the gradients and one that adds to
// them; all others repeat the second.
#pragma once

#include "core/memory/step/phase.h"
#include "core/memory/step/replay.h"

namespace plimsoll::memory {

/// Events that belong together.
struct Section {
  Phase phase = Phase::load;
  uint8_t step = 0;         ///< 0: before the first step, 1: the first, 2: any later one
  uint8_t micro_batch = 0;  ///< 1: makes the gradients, 2: adds to them; 0 outside forward and backward
  int32_t layer = -1;       ///< counted from 0 in its stack; -1: not a layer
  const char* part = "";    ///< of the network: "text", "vision", ...; of a step: "head", "optimizer", ...
  std::size_t from = 0, to = 0;
};

struct Unrolled {
  Trace events;  ///< tensors are numbered from 0 over the whole run
  std::vector<Section> sections;
  uint32_t tensors = 0;
  std::vector<WrappedUnit> wrapped;  ///< by FSDP: gone before the list begins, but the allocator has met them
  std::size_t units_ahead = 2;       ///< of those in the gathering stream, see Sharding
  std::vector<Stream> streams;       ///< by tensor; of those beyond its end: computing
  Stream stream_of(uint32_t tensor) const {
    return tensor < streams.size() ? streams[tensor] : Stream::computing;
  }
};

/// False where a value network is trained beside the policy, whose tensors are not written down.
bool unrolls(const recipe::Recipe& recipe);

/// Which steps are written down. `later` leaves the first one out where nothing but its optimizer states
/// remains of it, half the list. `drawn` leaves out of a later step's layers what no highest moment shows
/// (drawn_forms.h): a sixth of the list, for whoever draws it.
enum class Steps : uint8_t { both, later, drawn };

/// Only for a recipe that unrolls.
Unrolled unroll(const model::Architecture& network, const recipe::Recipe& recipe, const Machine& machine,
                Steps steps = Steps::both);

}  // namespace plimsoll::memory
