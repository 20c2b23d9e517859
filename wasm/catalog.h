// The presets of a module, which JavaScript hands over as texts of presets/pack.cmake.
#pragma once

#include <string>

#include "core/report/catalog.h"

inline plimsoll::report::Catalog& catalog() {
  static plimsoll::report::Catalog presets;
  return presets;
}

/// What is wrong with the first bad file; empty when all is well.
inline std::string add_presets(const std::string& text) {
  plimsoll::report::add_presets(catalog(), plimsoll::report::packed_files(text));
  if (catalog().errors.empty()) return "";
  const plimsoll::json::Error& error = catalog().errors.front();
  return error.pointer + ": " + error.message;
}
