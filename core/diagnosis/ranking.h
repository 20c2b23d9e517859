// The causes by likelihood, and what would tell them apart.
//
//     Ranked ranked = rank(evidence, {.reading = &reading});
//     ranked.causes[0].cause->id;   // "logits_peak"
//     ranked.question;              // null, or what to ask
#pragma once

#include <string>
#include <vector>

#include "core/diagnosis/causes.h"
#include "core/diagnosis/questions.h"
#include "core/diagnosis/vetoes.h"

namespace plimsoll::diagnosis {

struct Vetoed {
  const Cause* cause = nullptr;
  std::string why;
};

/// What the ranking goes by besides the evidence.
struct Ranking {
  const TextReading* reading = nullptr;  ///< for vetoes and questions; null: neither
  std::vector<Answer> answers;
  bool in_words = false;  ///< no program's own message is there
  bool framed = false;    ///< the phase is a traceback's
  std::size_t most = 6;
};

struct Ranked {
  std::vector<Named> causes;  ///< most likely first, those that something speaks for
  std::vector<Vetoed> vetoed;
  std::shared_ptr<const Question> question;
};
Ranked rank(const std::vector<Evidence>& evidence, const Ranking& by);

}  // namespace plimsoll::diagnosis
