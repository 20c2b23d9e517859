// Measures that people take against running out of memory and that do not help this run, each with the
// number.
//
//     for (const Habit& habit : habits_of(run)) print(habit.message);
#pragma once

#include <string>
#include <vector>

#include "core/run/run.h"

namespace plimsoll::advice {

struct Habit {
  std::string code, message, source;
  double bytes = 0;  ///< what it would save all the same
};

std::vector<Habit> habits_of(const run::Run& run);

}  // namespace plimsoll::advice
