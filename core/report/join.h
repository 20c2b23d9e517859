// Several files of one run as one import: the script, its accelerate YAML, its DeepSpeed JSON, the command that starts it.
//
//     json::Json import = joined({script, yaml}, catalog);   // each as report::write_import gives it
//     import["request"];                                     // of the script, and what the YAML says beside it
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.h"
#include "core/run/catalog.h"

namespace plimsoll::report {

/// The one that names the model leads, else the one that most is used of; the others add what it leaves open. One that names
/// another model, or is a second file of the same format, is another run's and stays out. What a command's flags say wins over
/// the files that it starts. "leads" is the leader's place in the list, "flags" are
/// the fields that a command beside it says, where there is one: a change of them belongs there. An import that was not read stays out; of none that was
/// read the first is given.
json::Json joined(const std::vector<json::Json>& imports, const run::Catalog& catalog);

/// The same of a JSON list, for the page.
std::string join_text(std::string_view imports, const run::Catalog& catalog);

}  // namespace plimsoll::report
