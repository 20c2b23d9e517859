// The files of presets/, compiled in, so that the core needs no file system:
//
//     for (const PresetFile& file : preset_files()) {
//       if (file.path == "models/mistral-7b-v0.3.json") { ... file.text ... }
//     }
//
// A preset is added by adding its file; the build finds it.
#pragma once

#include "core/json/embedded_file.h"

namespace plimsoll {

/// All presets, ordered by path.
std::span<const PresetFile> preset_files();

}  // namespace plimsoll
