// Notes on a run, as a person who does this every week would make them.
//
//     for (const model::Note& note : notes_of(replayed, gpu)) print(note.message);
#pragma once

#include <string_view>
#include <vector>

#include "core/hardware/gpu.h"
#include "core/run/replayed.h"

namespace plimsoll::run {

/// Whether a note makes the verdict beside it pointless, so that it stands with it and not among the others.
bool decides(std::string_view code);

/// `gpu` may be null. Each note has a code that never changes, one or two sentences and a source.
std::vector<model::Note> notes_of(const Replayed& replayed, const hardware::Gpu* gpu);

}  // namespace plimsoll::run
