// Plans as JSON: for the report's tiers, and for `plimsoll advise`.
//
//     advice::Advisor advisor(run, catalog);
//     write_plans(out, advisor, usable);        // [{"name", "changes", "peak", "time_factor", ...}]
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/advice/advisor.h"
#include "core/json/writer.h"

namespace plimsoll::report {

/// The list of plans for a usable size; what has one of `remedies` in it comes first.
void write_plans(json::Writer& out, advice::Advisor& advisor, double usable,
                 std::span<const std::string_view> remedies = {});
/// Null where something fits: least memory, what stands in the way, the smallest size that works.
void write_blocked(json::Writer& out, advice::Advisor& advisor, double usable);
/// What each fix saves and what it costs, alone.
void write_fixes(json::Writer& out, const advice::Advisor& advisor,
                 const std::vector<advice::SingleFix>& fixes);

/// {"schema", "core", "ok", "errors", "refused", "gpu", "tiers", "rent", "limits", "habits", "search"};
/// "rent", with "want": ["rent"], says which machine to rent, whether a card is chosen or not
std::string advise_text(std::string_view request, const run::Catalog& catalog);

}  // namespace plimsoll::report
