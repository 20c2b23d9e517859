// AutoTrain's YAML and its command, which names the format by its program.
#pragma once

#include "core/exchange/format.h"

namespace plimsoll::exchange {

extern const Format autotrain;

}  // namespace plimsoll::exchange
