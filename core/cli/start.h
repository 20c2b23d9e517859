// The command from its first word to its exit code. main() knows no more of it: two programs compile main(), and CLI11
// takes longer to compile than a dozen files of the core.
//
//     return start(argc, argv);
#pragma once

namespace plimsoll::cli {

int start(int argc, const char* const* argv);

}  // namespace plimsoll::cli
