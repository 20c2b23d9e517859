// Versions of libraries as people paste them around a configuration, a command or an error: the banner of a
// run, `transformers-cli env` and its kin, pip and conda lists, pinned requirements, a sentence.
//
//     versions_in("Unsloth 2025.8.2: Fast Llama patching. Transformers: 4.55.0. vLLM: 0.10.0.");
//     // {"/versions/transformers": "4.55.0", "/versions/unsloth": "2025.8.2"}
#pragma once

#include <string>
#include <string_view>

#include "core/recipe/recipe.h"

namespace plimsoll::exchange {

/// Fields below /versions/ that the text says, by pointer; libraries without such a field are passed over.
/// Where a text says two, the stronger form counts (what the run printed itself, then a listing, a pin, a
/// sentence), then the first. The local part of a version ("+cu121") is left out. Linear in the text.
recipe::Values versions_in(std::string_view text);

/// The release of Unsloth that a text names, or that is as old as the Transformers or the first date in it:
/// Unsloth's releases are called by their month. "" where nothing tells.
std::string unsloth_release(std::string_view text);

}  // namespace plimsoll::exchange
