// What JavaScript sees of both modules: text in and text out, in UTF-8, so that nothing has to be freed and
// no 64-bit integer crosses the border. What is wrong with a request is in the answer; nothing throws.
// wasm/plimsoll.d.ts types it. No formula lives here.
#include <emscripten/bind.h>

#include "core/report/report.h"
#include "wasm/catalog.h"

namespace {

using Text = std::string;
namespace report = plimsoll::report;

Text quick_report(const Text& request) { return report::quick_report_text(request, catalog()); }
Text usual(const Text& request) { return report::usual_text(request, catalog()); }
Text models() { return report::models_text(catalog()); }
Text gpus() { return report::gpus_text(catalog()); }
Text scenarios() { return report::scenarios_text(catalog()); }
Text fields() { return report::fields_text(catalog()); }
Text version() { return Text(report::version()); }

}  // namespace

EMSCRIPTEN_BINDINGS(plimsoll) {
  using emscripten::function;
  function("add_presets", &add_presets);
  function("quick_report", &quick_report);
  function("usual", &usual);
  function("models", &models);
  function("gpus", &gpus);
  function("scenarios", &scenarios);
  function("fields", &fields);
  function("version", &version);
}
