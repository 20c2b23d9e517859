// Reports as text for people: sizes in GiB, columns that line up, no wider than the terminal.
//
//     std::string text = cli::report_table(report, {.width = 100, .colour = true});
//
// Nothing here knows about files, terminals or the command line.
#pragma once

#include <cstddef>
#include <string>

#include "core/json/json.h"

namespace plimsoll::cli {

struct Style {
  size_t width = 80;
  bool colour = false;
};

/// The whole report: model, verdict, peak, what fills it, instants, tiers, notes, assumptions.
std::string report_table(const json::Json& report, const Style& style);

/// What the presets hold.
std::string models_table(const json::Json& models, const Style& style);
std::string fields_table(const json::Json& fields, const Style& style);
std::string gpus_table(const json::Json& gpus, const Style& style);

/// The errors of a report that could not be made, one a line.
std::string error_lines(const json::Json& errors);

}  // namespace plimsoll::cli
