// What JavaScript sees of the second module besides bindings.cpp: plans, limits, timeline, comparison, and
// the readers of what people paste. wasm/more.d.ts types it.
#include <emscripten/bind.h>

#include "core/exchange/docstring.h"
#include "core/report/advice.h"
#include "core/report/compare.h"
#include "core/report/diagnose.h"
#include "core/report/exchange.h"
#include "core/report/join.h"
#include "core/report/patch.h"
#include "core/report/report.h"
#include "wasm/catalog.h"

namespace {

using Text = std::string;
namespace report = plimsoll::report;

Text whole_report(const Text& request) { return report::report_text(request, catalog()); }
Text advise(const Text& request) { return report::advise_text(request, catalog()); }
Text compare(const Text& one, const Text& other) { return report::compare_text(one, other, catalog()); }
Text diagnose(const Text& text, const Text& request, const Text& phase) {
  return report::diagnosis_text(text, request, phase, catalog());
}
Text started_in(const Text& script) { return Text(plimsoll::exchange::started_in(script)); }
Text language(const Text& text) { return Text(report::language_text(text)); }
Text join(const Text& imports) { return report::join_text(imports, catalog()); }
Text parts(const Text& text) { return report::parts_text(text); }
Text import_text(const Text& text, const Text& yaml_tree, const Text& around, const Text& command) {
  return report::import_text(text, yaml_tree, catalog(), around, command);
}
Text export_text(const Text& request, const Text& format) {
  return report::export_text(request, format, catalog());
}
Text patch_text(const Text& text, const Text& yaml_tree, const Text& changes) {
  return report::patch_text(text, yaml_tree, changes, catalog());
}
Text formats() { return report::formats_text(); }

}  // namespace

EMSCRIPTEN_BINDINGS(plimsoll_more) {
  using emscripten::function;
  function("report", &whole_report);
  function("advise", &advise);
  function("compare", &compare);
  function("diagnose", &diagnose);
  function("language", &language);
  function("started_in", &started_in);
  function("parts", &parts);
  function("join", &join);
  function("import_text", &import_text);
  function("export_text", &export_text);
  function("patch_text", &patch_text);
  function("formats", &formats);
}
