// The command line as CLI11 knows it: every command, its flags, its help. Completion and the manual page are
// made from the same.
//
//     CLI::App app; Options options;
//     describe(app, options);
//     app.parse(argc, argv);
//     return run(app, options);
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "core/cli/options.h"

namespace plimsoll::cli {

void describe(CLI::App& app, Options& options);

/// For a command or a flag that there is not: the ones that were probably meant, a line each.
std::string near_words(const CLI::App& app, int argc, const char* const* argv);

/// Runs the command that was parsed; its exit code.
int run(const CLI::App& app, const Options& options);

}  // namespace plimsoll::cli
