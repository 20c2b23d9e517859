// On which occasion it failed, as a sentence says it: "when I saved at the 1000th step", "加载模型的时候".
//
//     occasion_in_words("it dies while the trainer saves a checkpoint").kind;   // Occasion::save
//
// A word of time ("when", "during", "at", "trying to") and, at most five words behind it, the verb. No list
// of whole phrases: people say the same thing in many ways. Texts are folded (ASCII in lower case).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace plimsoll::diagnosis {

enum class Occasion : uint8_t { none, save, resume, evaluate, merge, load };

struct Said {
  Occasion kind = Occasion::none;
  std::string words;  ///< from the word of time to the verb
};

/// The rarest that is said: a save or a resume before an evaluation, and loading last, which happens always.
Said occasion_in_words(std::string_view folded);

/// The words in which a text says that the use creeps up: "the memory seems to increase continuously"; ""
/// none.
std::string growth_in_words(std::string_view folded);

/// The words in which a text says that another release does it: "after I switched to torch2.5 ... can run";
/// "".
std::string other_release_in_words(std::string_view folded);

/// Whether a report is of measuring a finished model on benchmarks (lm-eval, VLMEvalKit), which evaluates no
/// training run.
bool measures_a_finished_model(std::string_view folded);

}  // namespace plimsoll::diagnosis
