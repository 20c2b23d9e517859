// What nobody trains without, where a person has only said what runs on which card: bf16 where the card has
// it, a micro-batch of 1, adapters on all linear layers.
//
//     for (const Usual& one : usual_choices(request, gpu)) put(request, one.pointer, one.value);
//
// A trainer's own defaults (fp32, a micro-batch of 8, two of the projections) would answer for a person who
// was not asked. A request that names its stack has that stack's.
#pragma once

#include <string>
#include <vector>

#include "core/hardware/gpu.h"
#include "core/json/json.h"

namespace plimsoll::run {

struct Usual {
  std::string pointer;
  json::Json value;
  std::string why;
};
/// What `request` leaves open of them; `gpu` may be null.
std::vector<Usual> usual_choices(const json::Json& request, const hardware::Gpu* gpu);

}  // namespace plimsoll::run
