// fms-hf-tuning's command, which names the format by its script, and its JSON.
#pragma once

#include "core/exchange/format.h"

namespace plimsoll::exchange {

extern const Format fms_tuning;

}  // namespace plimsoll::exchange
