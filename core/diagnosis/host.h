// The machine's RAM by arithmetic, where it is what ran out: what was to lie in it, held against what the text
// says there is.
//
//     ram_said("4x a100 40gb, 128gb ram");    // 137438953472
//     read_host(reading);                     // reading.cases: the one of the host that the sums show
#pragma once

#include <string_view>

namespace plimsoll::diagnosis {

struct TextReading;

/// Bytes of the machine's RAM that a text in lower case speaks of; 0: none. Modules are binary: 128 GB are GiB.
double ram_said(std::string_view folded);
/// Data workers of each process that a text in lower case sets; 0: none.
double workers_said(std::string_view folded);

/// Takes out cases of the host that the run excludes, and adds or completes the one that the sums show.
void read_host(TextReading& reading);

}  // namespace plimsoll::diagnosis
