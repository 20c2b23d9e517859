// What programs print, taken out of a text before its words are read: that a message of Slurm's speaks of processes, or a
// warning of an argument's name of evaluation, says nothing of the run.
//
//     std::string words = own_words(text.folded_lines);    // position for position, blanks in place of them
//     Prose prose = read_prose(without_log_lines(words));
#pragma once

#include <string>
#include <string_view>

namespace plimsoll::diagnosis {

/// Of a text in lower case (ASCII). The words by which a form is known stay.
std::string own_words(std::string_view folded);

/// Without whole lines of a log: warnings, banners, a save after which the run went on. Position for position too.
std::string without_log_lines(std::string_view folded);

}  // namespace plimsoll::diagnosis
