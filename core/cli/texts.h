// What people hold of a run as texts: a file, several of one run, or an issue with a file and a command in it.
//
//     json::Json import = import_texts({script, accelerate_yaml}, catalog);   // as report::write_import gives it
//     std::string request = request_in(issue, catalog);
#pragma once

#include <string>
#include <vector>

#include "core/json/json.h"
#include "core/run/catalog.h"

namespace plimsoll::cli {

/// Settings of one run, wherever in these texts they stand, joined (core/report/join.h). Python texts are one script.
json::Json import_texts(const std::vector<std::string>& texts, const run::Catalog& catalog);

/// A text of any format as a whole.
json::Json import_content(const std::string& text, const run::Catalog& catalog);

/// The request of the configurations and command lines inside a longer paste; "" when it has none.
std::string request_in(const std::string& paste, const run::Catalog& catalog);

}  // namespace plimsoll::cli
