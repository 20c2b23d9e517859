#include "tests/core/golden.h"

#include <gtest/gtest.h>

#include "core/run/preset_files.h"

namespace plimsoll {
std::span<const PresetFile> golden_files();  // written by the build
}

std::string_view golden_file(std::string_view name) {
  for (const plimsoll::PresetFile& file : plimsoll::golden_files()) {
    if (file.path == name) return file.text;
  }
  ADD_FAILURE() << "tests/core/golden/" << name << " does not exist";
  return {};
}
