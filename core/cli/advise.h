// `plimsoll advise` on a file of any format: the request in it, and each plan as that file again.
//
//     Asked asked = read_asked(text, "rtx-4090", catalog);      // asked.request, or asked.errors
//     add_files(advice, asked, catalog);                        // each plan of the card gets "file"
#pragma once

#include <string>

#include "core/cli/layout.h"
#include "core/json/json.h"
#include "core/report/catalog.h"

namespace plimsoll::cli {

struct Asked {
  std::string request;  ///< a request as text, on the card that was named
  std::string file;     ///< the text that plans are written into; "" where it is a request
  json::Json errors = json::Json::array();  ///< of the import; empty when there is a request
};

/// A request stays as it is, errors and all; any other format is imported.
Asked read_asked(const std::string& text, const std::string& gpu, const report::Catalog& catalog);

/// To each plan of the chosen card "file": {"text", "diff", "left_out", "environment"}.
void add_files(json::Json& advice, const Asked& asked, const report::Catalog& catalog);

/// The plan that has this reading (same, fewest, fastest) on the chosen card; null when there is none.
json::Json plan_named(const json::Json& advice, const std::string& reading);

/// What has no place in the file, one line each: for a person, beside the file.
std::string not_in_file(const json::Json& file);

/// The changed lines of each plan, below its name.
std::string plan_diffs(const json::Json& advice, const Style& style);

/// The request on a card. A text that is not a JSON object stays as it is, for the report to refuse.
std::string on_gpu(const std::string& request, const std::string& gpu);

}  // namespace plimsoll::cli
