// From the time of a step to hours, dollars and disk.
//
//     Length length = length_of(recipe);                        // steps of the whole run
//     double hours = length.steps * step.seconds / 3600;
//     Spot spot = on_spot(hours, hours_between_checkpoints, recipe.cloud);
//     spot.hours;                                               // work lost at interruptions included
#pragma once

#include "core/recipe/recipe.h"

namespace plimsoll::time {

struct Length {
  double steps = 0;        ///< optimizer steps; 0 where neither max_steps nor the data is known
  double checkpoints = 0;  ///< written
  double kept = 0;         ///< on disk at the end
};

/// `max_steps`, else `data`, and `save_steps` decide; packing joins samples until max_length is full.
Length length_of(const recipe::Recipe& recipe);

struct Spot {
  double hours = 0;          ///< expected, with the work that is done again
  double interruptions = 0;  ///< expected
  double chance_of_none = 0;
};

/// Interruptions come at random, at a constant rate. After one, everything since the last checkpoint is done
/// again and a restart passes. With rate l, interval C and restart R, an interval takes
/// (e^(lC) - 1) (1/l + R) hours on average (Daly 2006, J. Future Gener. Comput. Syst. 22:303, eq. 4).
Spot on_spot(double hours, double hours_between_checkpoints, const recipe::Cloud& cloud);

}  // namespace plimsoll::time
