// What JavaScript sees: text in, text out, so that nothing has to be freed and no 64-bit integer crosses the
// border. wasm/plimsoll.d.ts types it. No formula lives here. What only pasted text needs is in
// more_bindings.cpp.
#include <emscripten/bind.h>

#include <string>

#include "core/report/advice.h"
#include "core/report/compare.h"
#include "core/report/report.h"
#include "wasm/catalog.h"

namespace {

namespace report = plimsoll::report;

std::string report_text(const std::string& request) { return report::report_text(request, catalog()); }
std::string models() { return report::models_text(catalog()); }
std::string gpus() { return report::gpus_text(catalog()); }
std::string scenarios() { return report::scenarios_text(catalog()); }
std::string fields() { return report::fields_text(catalog()); }
std::string advise(const std::string& request) { return report::advise_text(request, catalog()); }
std::string compare(const std::string& a, const std::string& b) {
  return report::compare_text(a, b, catalog());
}
std::string version() { return std::string(report::version()); }

}  // namespace

EMSCRIPTEN_BINDINGS(plimsoll) {
  emscripten::function("report", &report_text);
  emscripten::function("models", &models);
  emscripten::function("gpus", &gpus);
  emscripten::function("scenarios", &scenarios);
  emscripten::function("fields", &fields);
  emscripten::function("advise", &advise);
  emscripten::function("compare", &compare);
  emscripten::function("version", &version);
}
