// Rented machines that could run a request, with what it takes there, and what the chosen card costs.
//
//     for (const OfferedMachine& machine : machines(run, catalog)) print(machine.offer->instance,
//     machine.usd);
//
// A machine that has more cards than the run asks for shares the samples of a step out among them.
#pragma once

#include <vector>

#include "core/run/run.h"
#include "core/time/step.h"

namespace plimsoll::run {

/// One offer of a cloud, for this run.
struct OfferedMachine {
  const hardware::Offer* offer;
  const hardware::Gpu* gpu;
  time::StepTime step;
  memory::Verdict verdict;
  uint64_t used;  ///< of its cards
  double usd;     ///< of the run, or of an hour where the data is not known
};

/// Cheapest first; a notebook service, which ends its sessions, after all others. Every kind of card takes a
/// replay of its own.
std::vector<OfferedMachine> machines(const Run& run, const Catalog& catalog);

/// The card that steps are timed on: the chosen one, or an A100 where none was chosen or its rates are not known.
const hardware::Gpu& timed_on(const Run& run, const Catalog& catalog);

/// How long a step of the run takes on a card.
time::StepTime step_of(const Run& run, const hardware::Gpu& gpu);

/// Dollars an hour: what the user pays, or the lowest price of a machine with the chosen card; 0: not known.
double price_of_chosen(const Run& run, const Catalog& catalog);

}  // namespace plimsoll::run
