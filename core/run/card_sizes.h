// What GPUs of one memory size leave to a run. They differ in what they leave to a program, and in what driver and
// kernels hold of it; a size fits where its worst card does.
//
//     const CardsOfSize there = cards_of(run, tier, catalog);
//     memory::verdict(sizes_on(run, tier), there.room);
#pragma once

#include <string>
#include <vector>

#include "core/run/run.h"

namespace plimsoll::run {

struct CardsOfSize {
  std::vector<std::string> gpus;  ///< that could run the request as it is; all of that size where none could
  bool suited = false;            ///< whether there is such a card
  double usable = 0;              ///< bytes, of the card that leaves least
  /// The same, less what a card's context and cuBLAS hold beyond those of the run's own, which its sizes count.
  double room = 0;
};
CardsOfSize cards_of(const Run& run, const hardware::Tier& tier, const Catalog& catalog);

/// Whether a run may move to this card: emulated bfloat16 is no way out, and a card of another make is
/// another installation.
bool suits(const Run& run, const hardware::Gpu& gpu);

}  // namespace plimsoll::run
