// What programs print in whole sentences about memory, taken out of a text before its words are read: that a
// message of Slurm's speaks of processes, or one of Transformers' of int8, says nothing of the run.
//
//     std::string words = own_words(text.folded_lines);    // position for position, blanks in place of them
#pragma once

#include <string>
#include <string_view>

namespace plimsoll::diagnosis {

/// Of a text in lower case (ASCII). The words by which a form is known stay.
std::string own_words(std::string_view folded);

}  // namespace plimsoll::diagnosis
