// The presets of a module, which JavaScript hands over as texts of presets/pack.cmake.
#pragma once

#include <string>

#include "core/run/catalog.h"

inline plimsoll::run::Catalog& catalog() {
  static plimsoll::run::Catalog presets;
  return presets;
}

/// What is wrong with the first bad file; empty when all is well.
inline std::string add_presets(const std::string& text) {
  plimsoll::run::add_presets(catalog(), plimsoll::run::packed_files(text));
  if (catalog().errors.empty()) return "";
  const plimsoll::json::Error& error = catalog().errors.front();
  return error.pointer + ": " + error.message;
}
