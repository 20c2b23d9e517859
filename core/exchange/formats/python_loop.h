// A training loop of its own in Python: what it calls, as the settings that a Trainer would take.
//
//     add_loop(read_python(source).root, sections);  // sections: {"training": {"optim": "sgd", ...}, "$loop": "loop"}
#pragma once

#include "core/exchange/tree.h"

namespace plimsoll::exchange {

/// "SFTConfig" of "trl.SFTConfig".
inline std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }
inline bool is_call(const Member& member) { return member.value.is_map() && !member.value.call.empty(); }

/// Whether a loss goes back in it.
bool has_loop(const Node& python);

/// Adds to `sections` what DataLoader, the optimizer, autocast and Accelerator say, where the source calls
/// backward() and no trainer.
void add_loop(const Node& python, Node& sections);

/// "torch.optim.AdamW" as a request says it, "adamw_torch"; "" when it is not known.
std::string_view optimizer_class(std::string_view name);
/// For the reader, where that is the name of another optimizer, whose states have the same bytes; else "".
std::string stand_in_note(std::string_view name);

}  // namespace plimsoll::exchange
