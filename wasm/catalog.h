// The presets that both modules carry, read once.
#pragma once

#include "core/report/catalog.h"
#include "core/report/preset_files.h"

inline const plimsoll::report::Catalog& catalog() {
  static const plimsoll::report::Catalog presets = plimsoll::report::read_catalog(plimsoll::preset_files());
  return presets;
}
