// Measures that people take against running out of memory and that do not help this run, each with the
// number.
//
//     write_habits(out, run);        // [{"code", "message", "bytes", "source"}]
#pragma once

#include "core/json/writer.h"
#include "core/report/run.h"

namespace plimsoll::report {

void write_habits(json::Writer& out, const Run& run);

}  // namespace plimsoll::report
