// What to ask the person when several causes are within reach of each other: the question whose answers
// divide them best, and what an answer is worth.
//
//     const auto next = question_for(named, asked, reading);        // null: nothing would change the answer
//     next->words;                                                  // "When did it fail?"
//     log_share(*find_question("when"), "eval", "logits_peak");     // how much the answer speaks against it
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/diagnosis/causes.h"

namespace plimsoll::diagnosis {

/// How often a run that failed of a cause gives an answer, of its answers.
struct Share {
  std::string_view cause;
  double of = 1;
};

struct Choice {
  std::string_view id, words;
  std::string_view means;         ///< what follows from it, for a person
  std::span<const Share> causes;  ///< that it speaks for
  bool rest = false;              ///< it speaks for all causes that no other choice names
  bool open = false;              ///< it says nothing: none of the others, or not known
};

struct Question {
  std::string_view id, words;
  std::vector<Choice> choices;
};
std::span<const Question> questions();
const Question* find_question(std::string_view id);
const Choice* find_choice(const Question& question, std::string_view id);

struct Answer {
  const Question* question = nullptr;
  const Choice* choice = nullptr;
};
/// "when=save others=yes" (blanks or commas between); what names no question or choice is left out.
std::vector<Answer> read_answers(std::string_view text);

/// The logarithm of how often a run that failed of this cause gives this answer.
double log_share(const Question& question, const Choice& choice, std::string_view cause);

/// The question that is expected to make the causes surest; null where one cause is sure enough, where no
/// question divides them, or where two were answered. It has the likeliest of its choices, at most seven, and an
/// open one. `named` are all causes, by `score`.
std::shared_ptr<const Question> question_for(const std::vector<Named>& named,
                                             const std::vector<Answer>& answered, const TextReading& reading);

}  // namespace plimsoll::diagnosis
