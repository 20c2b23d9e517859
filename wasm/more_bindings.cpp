// The second module, fetched when somebody pastes something: it reads configurations and error messages,
// which is half of the core and nothing that a first answer needs. wasm/more.d.ts types it.
#include <emscripten/bind.h>

#include <string>

#include "core/report/diagnose.h"
#include "core/report/exchange.h"
#include "wasm/catalog.h"

namespace {

std::string diagnose(const std::string& text, const std::string& request, const std::string& phase) {
  return plimsoll::report::diagnosis_text(text, request, phase, catalog());
}

std::string language(const std::string& text) { return std::string(plimsoll::report::language_text(text)); }
std::string import_text(const std::string& text, const std::string& yaml_tree) {
  return plimsoll::report::import_text(text, yaml_tree, catalog());
}

}  // namespace

EMSCRIPTEN_BINDINGS(plimsoll_more) {
  emscripten::function("diagnose", &diagnose);
  emscripten::function("language", &language);
  emscripten::function("import_text", &import_text);
}
