// What a question leaves open, each with the fields that decide it: methods, machines, values that are weighed.
//
//     for (const Open& machine : machines(said)) print(machine.name);
//     // " on 2 x GeForce RTX 3090 24GB, a whole copy on each card", ...
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/question/said_request.h"

namespace plimsoll::question {

struct Open {
  std::string name;
  recipe::Values values;
  bool slow = false;                  ///< told of only where nothing before it fits
  std::optional<Method> method = {};  ///< of what is a way to train
};

/// Fields of a method in place of those of another.
void set_method(recipe::Values& values, Method method, const run::Catalog& catalog);

/// The methods that the text speaks of, or all that it leaves open.
std::vector<Open> methods(const SaidRequest& said);

/// What the text says several values of, and the method has: "dies with batch 4, runs with batch 2", "DPO or SFT".
std::vector<Open> weighed(const SaidRequest& said, Method method);

/// A stack that shares no run out over cards: what is started on several is a copy on each.
bool in_one_process(const SaidRequest& said);

/// Machines that the text weighs, and the ways to share the work where it names none.
std::vector<Open> machines(const SaidRequest& said);

}  // namespace plimsoll::question
