// Where a script says how long its rows are, when no call of a trainer takes it.
//
//     add_length(read_python(source).root, sections);   // sections: {"length": {"max_length": 512}, ...}
#pragma once

#include "core/exchange/tree.h"

namespace plimsoll::exchange {

/// What the tokenizer is given; else any call of somebody else's code; else what is named so.
void add_length(const Node& python, Node& sections);

}  // namespace plimsoll::exchange
