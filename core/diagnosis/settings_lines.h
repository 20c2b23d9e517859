// The lines of a text that are a configuration: no words of a person, and no frames of a traceback.
//
//     std::string words = without_settings(text.folded_lines);    // position for position, blanks in place of them
//
// "optimizer: paged_adamw_8bit" among other such lines does not say that a run died in its optimizer, nor
// TrainingArguments(eval_steps=200) that it died while evaluating.
#pragma once

#include <string>
#include <string_view>

namespace plimsoll::diagnosis {

/// Of a text in lower case (ASCII).
std::string without_settings(std::string_view folded);

}  // namespace plimsoll::diagnosis
