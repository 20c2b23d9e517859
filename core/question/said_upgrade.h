// Two releases of a library that a text tells apart: "it worked with transformers 4.50, since 4.54 it fails".
//
//     std::optional<SaidUpgrade> told = upgrade_in(folded);   // "/versions/transformers", "4.50", "4.54"
//     price_upgrade(*told, run, catalog, situation);          // what the replay says of both
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/diagnosis/facts.h"
#include "core/run/run.h"

namespace plimsoll::question {

struct SaidUpgrade {
  std::string pointer;   ///< of the library's version in a request
  std::string from, to;  ///< the older and the newer: whoever tells of two has upgraded
};

/// Of Transformers, TRL and PEFT; the first pair that the text names.
std::optional<SaidUpgrade> upgrade_in(std::string_view folded);

/// Replays the run with either release. Leaves the situation as it is where one cannot be replayed.
void price_upgrade(const SaidUpgrade& upgrade, const run::Run& run, const run::Catalog& catalog,
                   diagnosis::Situation& situation);

}  // namespace plimsoll::question
