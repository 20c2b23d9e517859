// What cannot be the cause, by arithmetic or by the order of a step: said, and left out of the ranking.
//
//     veto("replicated_not_sharded", reading);   // "A whole copy of the weights takes 29.9 GiB, and only
//                                                //  22.9 GiB were allocated in the step."
#pragma once

#include <string>
#include <string_view>

#include "core/diagnosis/signs.h"

namespace plimsoll::diagnosis {

/// Why it cannot be, or "".
std::string veto(std::string_view cause, const TextReading& reading);

}  // namespace plimsoll::diagnosis
