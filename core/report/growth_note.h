// Where one more sample, token or rank can take less memory than one fewer, and why.
//
//     if (const auto note = growth_note(facts)) notes.push_back(*note);
//
// Nearly always more takes more, and a person may rely on that when a size is searched by hand. A report says
// where a library's own thresholds make it otherwise.
#pragma once

#include <optional>

#include "core/report/components.h"

namespace plimsoll::report {

std::optional<model::Note> growth_note(const Facts& facts);

}  // namespace plimsoll::report
