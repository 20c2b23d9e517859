// The signs that words show: what a report says of the moment and of what was tried (prose.h), and the names
// that stand for a thing by themselves ("wsl", "merge_lora.py").
//
//     std::vector<Evidence> signs;
//     read_words(reading, signs);   // "It dies at a save ("oom when the checkpoint is written")."
#pragma once

#include <vector>

#include "core/diagnosis/signs.h"

namespace plimsoll::diagnosis {

/// Adds one sign for each thing that the words say.
void read_words(const TextReading& reading, std::vector<Evidence>& out);

/// When it happened, by words alone: weaker than frames, which are asked first.
FailurePhase phase_in_words(std::string_view folded, const Prose& prose);

/// The words of a sentence, at most so many as are read at a glance.
std::string quote(std::string_view folded, const Sentence& sentence);

}  // namespace plimsoll::diagnosis
