// Python calls to the sections that the tables of transformers.h describe.
//
//     Node root = python_sections(read_python(source).root);   // {"training": {...}, "peft": {...}, "$task":
//     "sft"}
#pragma once

#include "core/exchange/tree.h"

namespace plimsoll::exchange {

Node python_sections(const Node& python);

}  // namespace plimsoll::exchange
