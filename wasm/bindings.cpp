// What JavaScript sees of the first module. wasm/plimsoll.d.ts types it. No formula lives here. The slower
// half of the core is in more_bindings.cpp.
#include "core/report/report.h"
#include "wasm/catalog.h"
#include "wasm/door.h"

namespace report = plimsoll::report;

extern "C" {

EMSCRIPTEN_KEEPALIVE void plimsoll_add_presets() { answer() = add_presets(argument(0)); }
EMSCRIPTEN_KEEPALIVE void plimsoll_report() { answer() = report::quick_report_text(argument(0), catalog()); }
EMSCRIPTEN_KEEPALIVE void plimsoll_models() { answer() = report::models_text(catalog()); }
EMSCRIPTEN_KEEPALIVE void plimsoll_gpus() { answer() = report::gpus_text(catalog()); }
EMSCRIPTEN_KEEPALIVE void plimsoll_scenarios() { answer() = report::scenarios_text(catalog()); }
EMSCRIPTEN_KEEPALIVE void plimsoll_fields() { answer() = report::fields_text(catalog()); }
EMSCRIPTEN_KEEPALIVE void plimsoll_version() { answer() = report::version(); }

}  // extern "C"
