// Python calls to the sections that the tables of transformers.h describe.
//
//     Node root = python_sections(read_python(source).root);   // {"training": {...}, "peft": {...}, "$task": "sft"}
#pragma once

#include "core/exchange/tree.h"

namespace plimsoll::exchange {

Node python_sections(const Node& python);

/// Axolotl's keys as arguments of a call, as its notebook has them: DictDefault(base_model=...). Null when
/// absent.
const Node* axolotl_call(const Node& python);

}  // namespace plimsoll::exchange
