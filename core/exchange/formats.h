// One line a format; each lies in formats/ under its own name.
#pragma once

#include "core/exchange/format.h"

namespace plimsoll::exchange {

extern const Format axolotl;

}  // namespace plimsoll::exchange
