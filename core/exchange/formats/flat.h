// Flags of scripts that nobody's library defines.
#pragma once

#include "core/exchange/tree.h"

namespace plimsoll::exchange {

/// --config.training.max_steps of somebody's own sections is max_steps, where that is a key.
Node command_of_own_sections(const Node& root);

}  // namespace plimsoll::exchange
