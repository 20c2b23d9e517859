// What somebody pasted, made readable: no control bytes, no box drawing, no colours, no broken lines.
//
//     Text text = clean("[rank0]: CUDA out of memory. Tried to allocate 2.00\n[rank0]: GiB ...");
//     text.streams[0].rank;   // 0
//     text.streams[0].flow;   // "CUDA out of memory. Tried to allocate 2.00 GiB ..."
//
// Any bytes are good input: NUL, broken UTF-8, one line of 10 MB. The work is linear, and what is longer than
// `most_bytes` is read at its two ends, where an error stands.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnosis/counted_text.h"

namespace plimsoll::diagnosis {

constexpr std::size_t most_bytes = 1U << 20U;

/// The lines of one process, joined by single blanks, so that a sentence that a terminal broke is whole
/// again.
struct Stream {
  int rank = -1;       ///< of "[rank3]: " at the start of its lines; -1: no such prefix
  std::string flow;    ///< as written
  std::string folded;  ///< the same in lower case (ASCII), position for position
};

struct Text {
  std::vector<Stream> streams;  ///< lines without a rank first, then by rank
  std::string lines;            ///< cleaned, line breaks kept: for tables and tracebacks
  std::string folded_lines;     ///< the same in lower case, position for position
  bool shortened = false;       ///< the middle was left out
};

Text clean(CountedText pasted);

/// How lines become sentences.
enum class Joining {
  by_rank,    ///< lines without a rank are another stream
  continued,  ///< a line without a rank goes on with the rank above it
  unbroken    ///< the same, and a full line ("... memory 4", "0.30 GiB ...") was broken inside a word
};

/// The streams of cleaned lines, for a message that the usual joining leaves without its figures.
std::vector<Stream> streams_of(CountedText lines, Joining joining);

/// The text without bytes that are no whole character: what was cut within one, or was never UTF-8.
std::string whole_characters(std::string_view text);

/// The first bytes of a text, at most so many, and no half character at their end.
std::string first_bytes(std::string_view text, std::size_t most);

/// Lower case of ASCII letters; everything else stays.
std::string fold(std::string_view text);

}  // namespace plimsoll::diagnosis
