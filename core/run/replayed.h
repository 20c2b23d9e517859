// A recipe on a network, and what the replay of it says: what the words of a report are made of.
//
//     const Replayed replayed{run.network, run.resolved.recipe, run.replay};
//     notes_of(replayed, run.gpu);
#pragma once

#include "core/memory/step/replay.h"

namespace plimsoll::run {

struct Replayed {
  const model::Architecture& network;
  const recipe::Recipe& recipe;
  const memory::Replay& replay;
  const memory::Parameters* known_parameters = nullptr;  ///< what the network weighs, where that is known
};

}  // namespace plimsoll::run
