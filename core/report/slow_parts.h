// The parts of a report that the page's first module cannot write: plans, limits and the timeline, which are
// written only when the request wants them and take longer than all the rest, and the notes of what libraries
// refuse.
//
//     report_text(request, catalog);               // has them all, and simulates the caching allocator
//     quick_report_text(request, catalog);         // has none, and does not link them: the page's first module
#pragma once

#include <functional>

#include "core/json/writer.h"
#include "core/report/report.h"
#include "core/run/run.h"

namespace plimsoll::report {

/// Writes the list of plans for a usable size in bytes.
using PlanWriter = std::function<void(json::Writer& out, double usable)>;

/// Null: this program cannot write that part.
struct SlowParts {
  std::optional<run::Run> (*read)(std::string_view request, const run::Catalog& catalog, json::Errors& errors,
                                  memory::ReplayMemo* memo) = run::read_quick_run;
  PlanWriter (*plans)(const run::Run& run, const run::Catalog& catalog) = nullptr;
  void (*limits)(json::Writer& out, const run::Run& run, const run::Catalog& catalog) = nullptr;
  void (*timeline)(json::Writer& out, const run::Run& run, const memory::Machine& machine) = nullptr;
  std::vector<model::Note> (*refused)(const run::Run& run) = nullptr;  ///< core/report/refused.h
};

/// The report with such parts as are at hand and wanted.
ReportAnswer report_answer_with(std::string_view request, const run::Catalog& catalog,
                                const SlowParts& parts);

}  // namespace plimsoll::report
