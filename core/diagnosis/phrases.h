// What the words around a message say of it: how far the run had come, whether it was saving, on which
// system.
//
//     std::vector<Evidence> signs;
//     read_words(reading, signs);   // "It ran for a while before it died ("halfway")."
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/diagnosis/signs.h"

namespace plimsoll::diagnosis {

/// A sign, and the words of which any shows it.
struct Phrase {
  Sign sign;
  std::string_view words;  ///< one sentence for a person
  std::span<const std::string_view> any;
};
std::span<const Phrase> phrase_lists();  // phrase_lists.cpp

/// Adds one sign for each thing that the words say.
void read_words(const Reading& reading, std::vector<Evidence>& out);

}  // namespace plimsoll::diagnosis
