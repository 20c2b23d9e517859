// Plans and comparisons as text for people.
//
//     std::string text = cli::advice_table(advice, style);
#pragma once

#include "core/cli/table.h"

namespace plimsoll::cli {

/// For the chosen GPU: each plan as rows of before, after, saving and reason; then the tiers, the limits and
/// what does not help.
std::string advice_table(const json::Json& advice, const Style& style);

/// Two runs, and the differences that separate them, largest first.
std::string compare_table(const json::Json& comparison, const Style& style);

}  // namespace plimsoll::cli
