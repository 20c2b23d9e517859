// What JavaScript sees: text in, text out, so that nothing has to be freed and no 64-bit integer crosses the
// border. wasm/plimsoll.d.ts types it. No formula lives here. The slower half of the
// core is in more_bindings.cpp.
#include <emscripten/bind.h>

#include <string>

#include "core/report/report.h"
#include "wasm/catalog.h"

namespace {

namespace report = plimsoll::report;

std::string report_text(const std::string& request) { return report::quick_report_text(request, catalog()); }
std::string models() { return report::models_text(catalog()); }
std::string gpus() { return report::gpus_text(catalog()); }
std::string scenarios() { return report::scenarios_text(catalog()); }
std::string fields() { return report::fields_text(catalog()); }
std::string version() { return std::string(report::version()); }

}  // namespace

EMSCRIPTEN_BINDINGS(plimsoll) {
  emscripten::function("report", &report_text);
  emscripten::function("models", &models);
  emscripten::function("gpus", &gpus);
  emscripten::function("scenarios", &scenarios);
  emscripten::function("fields", &fields);
  emscripten::function("version", &version);
}
