// The head of a script: whether it is one, and the command by which it says that it is started.
//
//     exchange::started_in("\"\"\"\naccelerate launch sft.py --model_name_or_path gpt2\n\"\"\"\nimport trl\n...");
//     // "accelerate launch sft.py --model_name_or_path gpt2"
#pragma once

#include <string_view>

namespace plimsoll::exchange {

/// Whether a text is a program's source from its head on, comments passed over: its words are nobody's report.
bool begins_as_source(std::string_view text);

/// What stands between the quotes at the head of a script, comments before it passed over; "" where there is none.
std::string_view docstring_of(std::string_view script);

/// The first command there that starts a program with flags, a view into `script`; "" where there is none, or where the
/// script reads no arguments: then the command says nothing that the script does not.
std::string_view started_in(std::string_view script);

}  // namespace plimsoll::exchange
