// Ways out that change the machine or the model instead of the recipe: a larger card, more cards, a rented
// one, a smaller model of the same family; samples packed into full rows, as that changes how many a step
// holds; and adapters where all weights are trained, as that learns something else.
//
//     for (const WayOut& way : elsewhere(run, catalog, basis, usable)) print(way.title);
//
// Each is the smallest of its kind that fits with the recipe as it is. Locks on "hardware", "parallel" and
// "model" rule them out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/advice/change.h"
#include "core/run/run.h"

namespace plimsoll::advice {

/// What a way has no word for stays empty, null or 0.
struct WayOut {
  const char *id, *title;
  const hardware::Gpu* gpu = nullptr;
  const hardware::Offer* offer = nullptr;
  const run::ModelEntry* model = nullptr;
  uint64_t gpus = 0;
  std::string name = {};
  recipe::Values changes = {};
  std::optional<double> high = {};
  double usd_per_step = 0, hours = 0;  ///< of a rented one
  double time_factor = 0, efficiency = 0;
  uint64_t effective_batch = 0;
  double samples_before = 0, samples = 0;  ///< in a step
  std::string why = {}, evidence = {}, source = {};
};

/// Empty where the run fits or no card was chosen.
std::vector<WayOut> elsewhere(const run::Run& run, const run::Catalog& catalog, const Basis& basis,
                              double usable);

/// The largest smaller model of the same family that the recipe as it is trains within `usable`, or null.
const run::ModelEntry* smaller_sibling(const run::Run& run, const run::Catalog& catalog, double usable);

}  // namespace plimsoll::advice
