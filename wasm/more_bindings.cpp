// The second module, fetched once the first answer is on the screen: plans, limits, timeline, comparison, and
// the readers of what people paste. wasm/more.d.ts types it.
#include <emscripten/bind.h>

#include <string>

#include "core/report/advice.h"
#include "core/report/compare.h"
#include "core/report/diagnose.h"
#include "core/report/exchange.h"
#include "core/report/patch.h"
#include "core/report/report.h"
#include "wasm/catalog.h"

namespace {

namespace report = plimsoll::report;

std::string report_text(const std::string& request) { return report::report_text(request, catalog()); }
std::string advise(const std::string& request) { return report::advise_text(request, catalog()); }
std::string compare(const std::string& one, const std::string& other) {
  return report::compare_text(one, other, catalog());
}
std::string diagnose(const std::string& text, const std::string& request, const std::string& phase) {
  return report::diagnosis_text(text, request, phase, catalog());
}

std::string language(const std::string& text) { return std::string(report::language_text(text)); }
std::string import_text(const std::string& text, const std::string& yaml_tree) {
  return report::import_text(text, yaml_tree, catalog());
}
std::string export_text(const std::string& request, const std::string& format) {
  return report::export_text(request, format, catalog());
}
std::string patch_text(const std::string& text, const std::string& yaml_tree, const std::string& changes) {
  return report::patch_text(text, yaml_tree, changes, catalog());
}
std::string formats() { return report::formats_text(); }

}  // namespace

EMSCRIPTEN_BINDINGS(plimsoll_more) {
  emscripten::function("report", &report_text);
  emscripten::function("advise", &advise);
  emscripten::function("compare", &compare);
  emscripten::function("diagnose", &diagnose);
  emscripten::function("language", &language);
  emscripten::function("import_text", &import_text);
  emscripten::function("export_text", &export_text);
  emscripten::function("patch_text", &patch_text);
  emscripten::function("formats", &formats);
}
