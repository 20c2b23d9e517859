// The parts of a report that are written only when the request wants them and that take longer than all the
// rest: plans, limits, the timeline.
//
//     report_text(request, catalog);               // has them all
//     quick_report_text(request, catalog);         // has none, and does not link them: the page's first
//     module
#pragma once

#include <functional>

#include "core/json/writer.h"
#include "core/run/run.h"

namespace plimsoll::report {

/// Writes the list of plans for a usable size in bytes.
using PlanWriter = std::function<void(json::Writer& out, double usable)>;

/// Null: this program cannot write that part.
struct SlowParts {
  PlanWriter (*plans)(const run::Run& run, const run::Catalog& catalog) = nullptr;
  void (*limits)(json::Writer& out, const run::Run& run, const run::Catalog& catalog) = nullptr;
  void (*timeline)(json::Writer& out, const run::Run& run, const memory::Machine& machine) = nullptr;
};

/// The report with such parts as are at hand and wanted.
std::string report_text_with(std::string_view request, const run::Catalog& catalog, const SlowParts& parts);

}  // namespace plimsoll::report
