// How far a run had come when it died, where a log or a person says so by number.
//
//     progress_in_words("350/2958 [1:02:15<7:43:02, 10.66s/it]");   // "The progress bar stands at 350/2958 ..."
//
// Texts are folded (ASCII in lower case).
#pragma once

#include <string>
#include <string_view>

namespace plimsoll::diagnosis {

/// One sentence for a person, where the run was well behind its first step; "" where nothing says so.
std::string progress_in_words(std::string_view folded);

}  // namespace plimsoll::diagnosis
