// Troubles that a report names in words, each a thing and what is said of it in one sentence (sentence.h).
//
//     read_troubles(folded, out);   // "Something else holds the card ("a zombie process still occupies
//     ...")."
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnosis/sentence.h"
#include "core/diagnosis/signs.h"

namespace plimsoll::diagnosis {

/// A sign, and the two halves of a sentence that shows it.
struct Trouble {
  Sign sign;
  const char* words;                ///< one sentence for a person, without its full stop
  SaidWords things, verbs, unless;  ///< of each, any; of `unless`, none
  std::size_t reach;                ///< bytes to either side of the thing
};
std::span<const Trouble> trouble_lists();  // trouble_lists.cpp
std::span<const Trouble> moment_lists();   // moment_lists.cpp

void read_troubles(std::string_view folded, std::vector<Evidence>& out);

/// The phase that a sentence of failure names: "every validation runs out of memory".
Phase phase_of_a_trouble(std::string_view folded);

/// Whether a text says that one process runs although several cards are meant: Lightning's "MEMBER: 1/1".
bool runs_in_one_process(std::string_view folded);

/// A tensor of a text's own brackets whose last two lengths are the same: "[16, 20000, 20000]", "40320^2"; ""
/// none. Only attention has such.
std::string square_shape(std::string_view folded);

}  // namespace plimsoll::diagnosis
