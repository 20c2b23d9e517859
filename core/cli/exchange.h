// plimsoll import, plimsoll export and plimsoll patch.
//
//     for (const std::string& path : files_below("configs/")) all.push_back(import_file(path, catalog));
//     std::string text = summary_table(summary_of(all));
#pragma once

#include <string>
#include <vector>

#include "core/json/json.h"
#include "core/run/catalog.h"

namespace plimsoll::cli {

/// One line of a summary.
struct Imported {
  std::string file;
  std::string format;
  json::Json answer;  ///< as report::write_import gives it
};

Imported import_file(const std::string& path, const run::Catalog& catalog);

/// A text of any format with changes written back, as report::patch_text gives it.
std::string patch_content(const std::string& text, const std::string& changes, const run::Catalog& catalog);

/// Every file below a folder, in the order of its name; a file stands for itself.
std::vector<std::string> files_below(const std::string& path);

/// {"files", "imported", "refused", "crashed", "keys_used", "keys_irrelevant", "keys_unknown",
/// "keys_implied", "keys_unsupported", "formats", "reasons", "unknown_models", "unknown_keys",
/// "unsupported_keys"}
json::Json summary_of(const std::vector<Imported>& all);
std::string summary_table(const json::Json& summary);
std::string import_table(const json::Json& answer);

/// "Not counted: use_kt, fp8": keys that may change memory and that the replay leaves out; "" where there are none.
std::string not_counted(const json::Json& import);

}  // namespace plimsoll::cli
