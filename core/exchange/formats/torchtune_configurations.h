// What the configurations that torchtune brings say, so that a command that names one is read as its file is.
//
//     published_keys("qwen2_5/7B_full");    // {"model._component_=...", "... batch_size=2 ...", ""}
#pragma once

#include <array>
#include <string_view>

namespace plimsoll::exchange {

/// "key=value" with blanks between them: the file's own, then those of most files, and of most with adapters. Of a key
/// that stands twice the first counts. Empty where no such file is known.
std::array<std::string_view, 3> published_keys(std::string_view name);

}  // namespace plimsoll::exchange
