// When it happened, and on how many cards, as people say it in words rather than in a traceback.
//
//     phase_in_words(clean("OOM during the evaluation phase"));   // Phase::eval
//     later_than_the_start("died after tens of batches");         // "after tens of batches"
//     cards_in_words("8卡V100 32G");                               // 8
//
// All texts are folded (ASCII in lower case). Words are weaker than frames: they are asked only where no
// frame names the phase.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/diagnosis/text.h"
#include "core/diagnosis/traceback.h"

namespace plimsoll::diagnosis {

Phase phase_in_words(const Text& text);

/// The words that place a failure well behind the first step: "after 3 hours", "part way through"; "" none.
std::string later_than_the_start(std::string_view folded);

/// Of "after the first step", "only at the second step": states exist by then, activations fitted before; "".
std::string after_the_first_step(std::string_view folded);

/// How many cards a text speaks of: a launcher's flag, "8 x A100", "8卡", ranks of a log; nothing: not said.
std::optional<double> cards_in_words(const Text& text);

}  // namespace plimsoll::diagnosis
