// Names that stand where somebody's own belongs.
//
//     is_placeholder("/path/to/your/model")     // true
//     is_placeholder("./checkpoints/")          // true: what followed was a variable that nothing sets
//     is_placeholder("/data/Llama-3.1-8B")      // false: a folder is named after what lies in it
#pragma once

#include <string_view>

namespace plimsoll::exchange {

bool is_placeholder(std::string_view model);

}  // namespace plimsoll::exchange
