#include "core/report/slow_parts.h"

#include <memory>

#include "core/report/advice.h"
#include "core/report/limits.h"
#include "core/report/refused.h"
#include "core/report/timeline.h"

namespace plimsoll::report {

namespace {

PlanWriter plans(const run::Run& run, const run::Catalog& catalog) {
  // Shared, because a function object is copied; the advisor remembers what it has priced.
  const auto advisor = std::make_shared<advice::Advisor>(run, catalog);
  return [advisor](json::Writer& out, double usable) { write_plans(out, *advisor, usable); };
}

}  // namespace

ReportAnswer report_answer(std::string_view request, const run::Catalog& catalog) {
  return report_answer_with(request, catalog, {run::read_run, plans, write_limits, write_timeline, refused});
}

std::string report_text(std::string_view request, const run::Catalog& catalog) {
  return report_answer(request, catalog).text;
}

}  // namespace plimsoll::report
