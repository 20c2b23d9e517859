// What a command line starts, and where its settings are.
//
//     Document document = read_text("llamafactory-cli train sft.yaml");
//     format_of_command(document.root)->id;             // "llamafactory"
//     tell_of_settings_file(document.root, import);     // "The settings of this command are in sft.yaml, which is not here."
#pragma once

#include "core/exchange/import.h"

namespace plimsoll::exchange {

/// The format of the program that it starts; command_line for any script. `root`: of a document in Language::shell.
const Format* format_of_command(const Node& root);

/// How such a note ends.
constexpr std::string_view paste_it_too = ", which is not here. Paste its text too.";
/// Says so where what is missing is in a file that the command names.
void tell_of_settings_file(const Node& root, Import& import);

}  // namespace plimsoll::exchange
