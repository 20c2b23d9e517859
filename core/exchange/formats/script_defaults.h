// What published training scripts set where their command says nothing: they are started by name, and their text
// is not there.
//
//     // python qlora.py --model_name_or_path huggyllama/llama-7b
//     take_script_defaults(reading);
//     reading.values["/peft/r"];      // 64, of its ModelArguments
#pragma once

#include "core/exchange/format.h"

namespace plimsoll::exchange {

/// Fills what no flag of the command has set.
void take_script_defaults(Reading& reading);

}  // namespace plimsoll::exchange
