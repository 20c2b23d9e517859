// A text file that the build compiles in (embed_files in CMakeLists.txt), so that the core needs no file
// system.
#pragma once

#include <span>
#include <string_view>

namespace plimsoll {

struct PresetFile {
  std::string_view path;  ///< relative to its folder, with forward slashes
  std::string_view text;  ///< JSON
};

}  // namespace plimsoll
