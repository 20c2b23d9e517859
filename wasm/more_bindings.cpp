// The second module, fetched once the first answer is on the screen: all models, plans, limits, timeline,
// comparison, and the readers of what people paste. wasm/more.d.ts types it.
#include "core/report/advice.h"
#include "core/report/compare.h"
#include "core/report/diagnose.h"
#include "core/report/exchange.h"
#include "core/report/patch.h"
#include "core/report/report.h"
#include "wasm/catalog.h"
#include "wasm/door.h"

namespace report = plimsoll::report;

extern "C" {

EMSCRIPTEN_KEEPALIVE void plimsoll_add_presets() { answer() = add_presets(argument(0)); }
EMSCRIPTEN_KEEPALIVE void plimsoll_report() { answer() = report::report_text(argument(0), catalog()); }
EMSCRIPTEN_KEEPALIVE void plimsoll_models() { answer() = report::models_text(catalog()); }
EMSCRIPTEN_KEEPALIVE void plimsoll_gpus() { answer() = report::gpus_text(catalog()); }
EMSCRIPTEN_KEEPALIVE void plimsoll_fields() { answer() = report::fields_text(catalog()); }
EMSCRIPTEN_KEEPALIVE void plimsoll_version() { answer() = report::version(); }
EMSCRIPTEN_KEEPALIVE void plimsoll_advise() { answer() = report::advise_text(argument(0), catalog()); }
EMSCRIPTEN_KEEPALIVE void plimsoll_compare() {
  answer() = report::compare_text(argument(0), argument(1), catalog());
}
EMSCRIPTEN_KEEPALIVE void plimsoll_diagnose() {
  answer() = report::diagnosis_text(argument(0), argument(1), argument(2), catalog());
}
EMSCRIPTEN_KEEPALIVE void plimsoll_language() { answer() = report::language_text(argument(0)); }
EMSCRIPTEN_KEEPALIVE void plimsoll_parts() { answer() = report::parts_text(argument(0)); }
EMSCRIPTEN_KEEPALIVE void plimsoll_import_text() {
  answer() = report::import_text(argument(0), argument(1), catalog());
}
EMSCRIPTEN_KEEPALIVE void plimsoll_export_text() {
  answer() = report::export_text(argument(0), argument(1), catalog());
}
EMSCRIPTEN_KEEPALIVE void plimsoll_patch_text() {
  answer() = report::patch_text(argument(0), argument(1), argument(2), catalog());
}
EMSCRIPTEN_KEEPALIVE void plimsoll_formats() { answer() = report::formats_text(); }

}  // extern "C"
