// The first answer on a terminal: a verdict, one subtraction, what is largest, and what makes it fit.
//
//     brief_table(report, advice, {.width = 100})
//
// Everything else is in report_table and advice_table.
#pragma once

#include <string>

#include "core/cli/table.h"
#include "core/json/json.h"

namespace plimsoll::cli {

/// `advice` is an answer of `plimsoll advise` on the same request, or null for none.
std::string brief_table(const json::Json& report, const json::Json& advice, const Style& style);

/// Why a card that is known gets no verdict; "" where it gets one, or none is named.
std::string no_verdict(const json::Json& report);

}  // namespace plimsoll::cli
