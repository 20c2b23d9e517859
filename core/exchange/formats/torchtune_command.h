// "tune run lora_finetune_distributed --config llama3_1/8B_lora batch_size=4": the keys of a torchtune file.
//
//     Node root = torchtune_command(read_shell(text).root);  // {"batch_size": 4, "model": {...}, "$words": [...]}
#pragma once

#include "core/exchange/tree.h"

namespace plimsoll::exchange {

/// Words with "=" are keys of the configuration, and the name of a published one says model and method.
Node torchtune_command(const Node& command);

/// Whether a command line starts `tune`.
bool is_torchtune_command(const Node& command);

}  // namespace plimsoll::exchange
