// The run of the request, played once more against the card that failed: does it ask for a size like the
// message's, at an instant like the traceback's, with about as much allocated? And if not, does it where one
// setting did not take effect?
//
//     Rerun rerun = play_again(situation, reading);
//     rerun.match->what;        // "cross-entropy", asked for in the loss
//     rerun.cause;              // "logits_peak": what a match in that place comes from
//     rerun.contradiction;      // "By the request this run holds at most 14.2 GiB, but 22.9 GiB were ..."
//
// Only where the request can be unrolled tensor by tensor and the message says what was allocated. A request
// that leaves batch or length open is asked for its weights alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/diagnosis/asked.h"

namespace plimsoll::diagnosis {

struct TextReading;
struct Situation;

struct Rerun {
  bool played = false;
  std::optional<Asked> match;  ///< what the message shows, in the run as requested or as `setting` has it
  std::string_view setting;    ///< id of the setting that did not take effect; "": all did
  std::string_view cause;      ///< of the match; "": no match
  double weight = 0;           ///< added to the score of that cause, a logarithm of odds
  std::string words;           ///< the match, for a person
  bool exact = false;          ///< it is the request at which the replayed run dies
  bool refuted = false;        ///< as requested, the run would have had room
  std::string contradiction;   ///< where request and message cannot be of one run; "": they can
  std::string explained;       ///< what would explain that
  /// Which contradiction it is, for pages in other languages: "at_rest", "at_most", "at_least"; and which
  /// explanation: "smaller", "larger", "shorter", "checkpointed", "other"; "": one that names settings.
  std::string_view contradicts, explanation;
  double expected = 0;        ///< bytes, by the request
  bool checkpointed = false;  ///< only with gradient checkpointing does the run get to where it failed
};

Rerun play_again(const Situation& situation, const TextReading& reading);

}  // namespace plimsoll::diagnosis
