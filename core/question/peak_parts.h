// What the memory of a priced run consists of, in words.
#pragma once

#include <string>

#include "core/memory/step/replay.h"

namespace plimsoll::question {

/// "optimizer states 11.97 GiB, weights 5.98 GiB": the largest components, each a twentieth of the whole at least.
std::string parts_of(const memory::Snapshot& live);

/// "Why does batch 4 die where 2 fits?": what grows most from the one to the other, each at its own peak.
std::string growth(const memory::Snapshot& one, const memory::Snapshot& other);

}  // namespace plimsoll::question
