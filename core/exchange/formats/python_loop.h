// A training loop of its own in Python: what it calls, as the settings that a Trainer would take.
//
//     add_loop(read_python(source).root, sections);    // sections: {"training": {"optim": "sgd", ...},
//     "$loop": "loop"}
#pragma once

#include "core/exchange/tree.h"

namespace plimsoll::exchange {

/// Adds to `sections` what DataLoader, the optimizer, autocast and Accelerator say, where the source calls
/// backward() and no trainer.
void add_loop(const Node& python, Node& sections);

/// "torch.optim.AdamW" as a request says it, "adamw_torch"; "" when it is not known.
std::string_view optimizer_class(std::string_view name);

}  // namespace plimsoll::exchange
