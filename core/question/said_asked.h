// What a text asks beside whether a run fits: what it costs, how long it takes, whether a figure that somebody saw is
// right; and the sentences that answer it.
#pragma once

#include <string>

#include "core/question/answers.h"
#include "core/question/said_request.h"
#include "core/question/said_words.h"

namespace plimsoll::question {

void read_asked(const SaidWords& words, SaidRequest& out);

/// Of the first way that was priced; "" where nothing of it was asked.
std::string told_beside(const SaidRequest& said, const Way& way);

}  // namespace plimsoll::question
