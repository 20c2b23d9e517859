// What is taken where a question leaves it open.
//
//     way.request = said.request();
//     take_the_least(way, catalog);    // way.taken says what, and why
#pragma once

#include "core/question/answers.h"

namespace plimsoll::question {

/// Whether it can fit is asked: what nobody said is taken so that little is needed, and named.
void take_the_least(Way& way, const run::Catalog& catalog);

}  // namespace plimsoll::question
