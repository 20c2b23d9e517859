// What is taken where a question leaves it open, and the sentence that says so.
//
//     way.request = said.request();
//     take_the_least(way, catalog);    // way.taken says what, and why
//     taken_words(said, {way});        // " Not said, and taken here: a micro-batch of 1, gradient checkpointing."
#pragma once

#include <string>
#include <vector>

#include "core/question/answers.h"

namespace plimsoll::question {

/// Whether it can fit is asked: what nobody said is taken so that little is needed, and named.
void take_the_least(Way& way, const run::Catalog& catalog);

/// Of the first way, and of what all of them have; "" where nothing was taken.
std::string taken_words(const SaidRequest& said, const std::vector<Way>& ways);

}  // namespace plimsoll::question
