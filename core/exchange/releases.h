// How old a script is by what it calls: arguments that later releases of TRL refuse.
//
//     SFTTrainer(model=model, max_seq_length=512)     // TRL 0.12 is the last that takes it
#pragma once

#include <string_view>

#include "core/exchange/import.h"

namespace plimsoll::exchange {

/// Adds /versions/trl where the text of a script for TRL says none and calls what a release took as the last.
void add_release(Import& import, const Document& document, std::string_view text);

}  // namespace plimsoll::exchange
