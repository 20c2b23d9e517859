// Completion for a shell, from the description of the command line and the presets.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace plimsoll::cli {

/// A script for bash, zsh or fish to read.
std::string completion(const CLI::App& app, const std::string& shell);

}  // namespace plimsoll::cli
