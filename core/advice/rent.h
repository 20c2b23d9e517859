// Which machine to rent: every offer with a price of the seller's own, its cards shared out in every way, the
// recipe as it is or with one change.
//
//     const Rent rent = rent_of(run, catalog);
//     if (rent.cheapest()) rent.cheapest()->offer->instance;
//
// Every kind of card takes replays of its own. The one change is the first in the usual order (usual.h) that
// fits and that published comparisons cannot tell apart. A notebook service, which chooses the card itself
// and ends the session, leads nothing.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/advice/fix.h"
#include "core/run/run.h"

namespace plimsoll::advice {

/// Of its own memory a machine that is rented has so much: what takes less is not said.
constexpr double usual_host = 32.0 * 1024 * 1024 * 1024;

/// The run on so many cards of one kind, as it fits there.
struct Setup {
  const hardware::Gpu* gpu = nullptr;
  recipe::Values changes;    ///< all fields that are set
  const Fix* fix = nullptr;  ///< the one change to the recipe; null: none
  std::string strategy;
  uint64_t cards = 1;
  double high = 0, seconds = 0, efficiency = 1;
  double host = 0;  ///< bytes of the machine's own memory
};

struct RentRow {
  const hardware::Offer* offer;
  const Setup* setup;
  double usd_per_step;
};

struct Rent {
  /// By card and number of cards; rows point into it.
  std::map<std::pair<std::string, uint64_t>, std::optional<Setup>> setups;
  std::vector<RentRow> rows;  ///< cheapest first

  /// Of dated prices, where there are any; each of them null where no machine is so.
  const RentRow* cheapest() const;
  const RentRow* unchanged() const;
  const RentRow* fastest() const;
  /// What is cheaper than cheapest() at a price that nobody has dated.
  const RentRow* undated() const;
};

/// `catalog` outlives it.
Rent rent_of(const run::Run& run, const run::Catalog& catalog);

}  // namespace plimsoll::advice
