// What is a setting of a configuration, and not something that happened: no words of a person, and no frame
// of a traceback.
//
//     is_setting("save_steps: 500");                             // true: its name is joined by an underscore
//     in_setting(text.folded_lines, at);                         // of the line around `at`
//     std::string words = without_settings(text.folded_lines);   // position for position, blanks in place of them
//
// "optimizer: paged_adamw_8bit" among other such lines does not say that a run died in its optimizer, nor
// TrainingArguments(eval_steps=200) that it died while evaluating. A setting is a name, a colon or an equals
// sign, and a value of few words that nothing calls. A name of one plain word ("loss: nan") is one only in
// company.
#pragma once

#include <string>
#include <string_view>

#include "core/diagnosis/counted_text.h"

namespace plimsoll::diagnosis {

// Texts are in lower case (ASCII).

/// Whether one line, without blanks around it, is a setting by itself: "save_steps: 500", "--do_eval True".
bool is_setting(std::string_view line);
/// Whether `at` lies in such a line, or in a flag of a command.
bool in_setting(CountedText folded_lines, std::size_t at);
/// Blanks in place of lines that are a configuration together, and of calls that make one.
std::string without_settings(std::string_view folded);

}  // namespace plimsoll::diagnosis
