// The manual page, in the language of man(7), from the description of the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace plimsoll::cli {

std::string manual(const CLI::App& app);

}  // namespace plimsoll::cli
