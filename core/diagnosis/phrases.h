// What the words around a message say of it: how far the run had come, whether it was saving, on which
// system.
//
//     std::vector<Evidence> signs;
//     read_words(reading, signs);   // "It ran for a while before it died ("halfway")."
#pragma once

#include <vector>

#include "core/diagnosis/signs.h"

namespace plimsoll::diagnosis {

/// Adds one sign for each row of phrases that the text has.
void read_words(const Reading& reading, std::vector<Evidence>& out);

}  // namespace plimsoll::diagnosis
