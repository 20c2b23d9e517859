// Two runs side by side: what each difference is worth in memory and time.
//
//     for (const Difference& one : compare(a, b, catalog).differences) print(one.player.name,
//     one.worth.device);
//
// Shares add up to the whole difference, also where changes interact: each is the mean of what its field
// adds over all orders in which the fields can be changed (Shapley 1953). With more than eight fields that
// matter, over a fixed sample of orders.
#pragma once

#include <string>
#include <vector>

#include "core/run/run.h"

namespace plimsoll::run {

/// Fields that change together: where one of them alone would contradict the rest.
struct Player {
  std::vector<std::string> pointers;
  std::string name;
  bool model = false;
};

struct Worth {
  double device = 0, allocated = 0, seconds = 0;
};

struct Difference {
  Player player;
  Worth worth;
};

struct Comparison {
  Worth a, b;
  std::vector<Difference> differences;  ///< largest first
  std::vector<Player> silent;           ///< change neither memory nor time, from either end
};

Comparison compare(const Run& a, const Run& b, const Catalog& catalog);

}  // namespace plimsoll::run
