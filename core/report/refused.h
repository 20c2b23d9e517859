// What a library refuses of a run, as notes: the error that it will print, and what to do instead.
//
//     for (const model::Note& note : refused(run)) print(note.message);
//     // flash-attn stops with "FlashAttention only supports Ampere GPUs or newer." Instead: ...
#pragma once

#include <vector>

#include "core/run/run.h"

namespace plimsoll::report {

/// One for each row of core/recipe/refusals.cpp that applies. All have one code: which it is, the message
/// says.
std::vector<model::Note> refused(const run::Run& run);

}  // namespace plimsoll::report
