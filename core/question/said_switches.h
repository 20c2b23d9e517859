// Settings that a text names by their own names: "with packing and Liger", "no gradient checkpointing", "flash
// attention is not installed".
//
//     read_switches(words, out);
//     out.values["/training/packing"];        // true
//     out.values["/locks"];                   // what cannot be had: no plan proposes it
#pragma once

#include "core/question/said_request.h"
#include "core/question/said_words.h"

namespace plimsoll::question {

void read_switches(const SaidWords& words, SaidRequest& out);

/// What cannot be had, or is not wanted: no plan proposes it.
void lock(std::string_view pointer, SaidRequest& out);

/// "Will flash attention help?", "lohnt sich", "有用吗": with it and without is asked for.
bool asks_what_it_brings(const SaidWords& words);

}  // namespace plimsoll::question
