// A request for memory of a replayed run: when it comes, and which cause it stands for.
//
//     cause_of(asked, recipe, fixed, room);   // "logits_peak"
//     place_of(asked);                        // "in the backward pass, in layer 7"
#pragma once

#include <string>
#include <string_view>

#include "core/memory/step/unroll.h"
#include "core/recipe/recipe.h"

namespace plimsoll::diagnosis {

/// A request for memory of the replayed run.
struct Asked {
  memory::Phase at = memory::Phase::load;
  memory::Component component{};
  int32_t layer = -1;
  const char* what = "";
  double bytes = 0;      ///< of the tensor
  double allocated = 0;  ///< before it
};

/// `fixed`: bytes that are held before the first step; `room`: bytes that the process could have.
std::string_view cause_of(const Asked& asked, const recipe::Recipe& recipe, double fixed, double room);
std::string place_of(const Asked& asked);

}  // namespace plimsoll::diagnosis
