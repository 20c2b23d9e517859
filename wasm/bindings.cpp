// What JavaScript sees: text in, text out, so that nothing has to be freed and no 64-bit integer crosses the
// border. wasm/plimsoll.d.ts types it. No formula lives here.
#include <emscripten/bind.h>

#include <string>

#include "core/report/diagnose.h"
#include "core/report/preset_files.h"
#include "core/report/report.h"

namespace {

namespace report = plimsoll::report;

const report::Catalog& catalog() {
  static const report::Catalog presets = report::read_catalog(plimsoll::preset_files());
  return presets;
}

std::string report_text(const std::string& request) { return report::report_text(request, catalog()); }
std::string models() { return report::models_text(catalog()); }
std::string gpus() { return report::gpus_text(catalog()); }
std::string scenarios() { return report::scenarios_text(catalog()); }
std::string fields() { return report::fields_text(catalog()); }
std::string diagnose(const std::string& text, const std::string& request, const std::string& phase) {
  return report::diagnosis_text(text, request, phase, catalog());
}
std::string version() { return std::string(report::version()); }

}  // namespace

EMSCRIPTEN_BINDINGS(plimsoll) {
  emscripten::function("report", &report_text);
  emscripten::function("models", &models);
  emscripten::function("gpus", &gpus);
  emscripten::function("scenarios", &scenarios);
  emscripten::function("fields", &fields);
  emscripten::function("diagnose", &diagnose);
  emscripten::function("version", &version);
}
