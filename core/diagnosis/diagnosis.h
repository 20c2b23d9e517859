// An out-of-memory failure, explained: what the figures say, which tensor failed, and the causes by
// likelihood.
//
//     Situation situation;
//     situation.text = pasted;                          // an error, a table, a traceback, all in one
//     Diagnosis d = diagnose(situation);
//     d.causes[0].cause->title;                         // "Logits over a large vocabulary"
//     d.causes[0].shown;                                // why
//
// A text without any message is no error: `causes` is empty and `reading.messages` too.
#pragma once

#include <vector>

#include "core/diagnosis/causes.h"
#include "core/diagnosis/facts.h"
#include "core/diagnosis/ranking.h"
#include "core/diagnosis/signs.h"

namespace plimsoll::diagnosis {

struct Diagnosis {
  TextReading reading;
  std::vector<Evidence> evidence;
  std::vector<Named> causes;                 ///< most likely first
  std::vector<Vetoed> vetoed;                ///< that something spoke for, and that cannot be
  std::shared_ptr<const Question> question;  ///< what would tell the causes apart; null: nothing to ask
  std::vector<std::string> cards;            ///< ids of GPUs that report such a capacity
};

Diagnosis diagnose(const Situation& situation);

}  // namespace plimsoll::diagnosis
