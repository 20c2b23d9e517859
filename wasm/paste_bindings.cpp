// The second module, fetched when somebody pastes something: it reads configurations and error messages, which is half
// of the core and nothing that a first answer needs. wasm/paste.d.ts types it.
#include <emscripten/bind.h>

#include <string>

#include "core/report/diagnose.h"
#include "wasm/catalog.h"

namespace {

std::string diagnose(const std::string& text, const std::string& request, const std::string& phase) {
  return plimsoll::report::diagnosis_text(text, request, phase, catalog());
}

}  // namespace

EMSCRIPTEN_BINDINGS(plimsoll_paste) { emscripten::function("diagnose", &diagnose); }
