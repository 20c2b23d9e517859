// What a script means by what it does not call, where it goes as far as a trainer.
#pragma once

#include "core/exchange/format.h"

namespace plimsoll::exchange {

/// To be called when all keys have been read.
void finish_whole_script(Reading& reading);

}  // namespace plimsoll::exchange
