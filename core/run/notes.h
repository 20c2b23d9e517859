// Remarks about a run that a person who does this every week would make.
//
//     for (const model::Note& note : remarks(facts, gpu)) print(note.message);
#pragma once

#include <vector>

#include "core/hardware/gpu.h"
#include "core/run/components.h"

namespace plimsoll::run {

/// `gpu` may be null. Each note has a code that never changes, one or two sentences and a source.
std::vector<model::Note> remarks(const Replayed& facts, const hardware::Gpu* gpu);

}  // namespace plimsoll::run
