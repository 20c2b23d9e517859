// A request from a file of any format, from a model's name, and from flags; for `plimsoll advise` each plan
// as that file again.
//
//     Asked asked = read_asked({"axolotl.yaml"}, wishes, catalog);   // asked.request, or asked.errors
//     add_files(advice, asked, catalog);                             // each plan of the card gets "file"
#pragma once

#include <string>

#include "core/cli/layout.h"
#include "core/cli/wishes.h"
#include "core/json/json.h"
#include "core/run/catalog.h"

namespace plimsoll::cli {

struct Asked {
  std::string request;                     ///< as text: the bytes that were read where nothing changed them
  std::string file;                        ///< the text that plans are written into; "" where it is a request
  json::Json flags = json::Json::array();  ///< fields that a command beside the file says, which wins over it
  bool fresh = true;                       ///< there was no request but the flags and a model
  AllSaid said;                            ///< what the flags changed, and what was found by its parts
  json::Json errors = json::Json::array();  ///< of the flags, the file or the import
};

/// `source` is a file, - for standard input, a folder with a config.json, or a model's name; "" is standard
/// input unless a model is given by a flag.
Asked read_asked(const std::string& source, const Wishes& wishes, const run::Catalog& catalog);

/// Flags on top of what was asked already. A text that is no JSON object stays, for the report to refuse.
Asked with_flags(const Asked& asked, const Wishes& wishes, const run::Catalog& catalog);

/// To each plan of the chosen card "file": {"text", "diff", "left_out", "environment"}.
void add_files(json::Json& advice, const Asked& asked, const run::Catalog& catalog);

/// The plan that has this reading (same, fewest, fastest) on the chosen card; null when there is none.
json::Json plan_named(const json::Json& advice, const std::string& reading);

/// What has no place in the file, one line each: for a person, beside the file.
std::string not_in_file(const json::Json& file);

/// The request with what the plan's file says of its changes, and the environment that the plan wants.
std::string request_of_file(const std::string& request, const json::Json& plan);

/// For a person, where the file of a plan does not fit by itself: what it lacks, and how it is said elsewhere.
std::string lacking_words(const json::Json& plan);

/// The changed lines of each plan, below its name.
std::string plan_diffs(const json::Json& advice, const Style& style);

}  // namespace plimsoll::cli
