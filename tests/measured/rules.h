// The rules that read a record's words: one file a kind of rule in tests/measured/rules, each rule with its
// reason.
//
//     {"when": {"framework": "transformers ([0-9.]+)"}, "set": {"/versions/transformers": "$1"},
//      "why": "...", "source": "..."}
//     {"when": {"method": "^galore$"}, "refuse": "GaLore is not among the optimizers"}
//
// A condition is a regular expression that is searched for in a field of the record, or in a field of the
// request that an earlier rule has set ("/quantization/load_in_4bit"), whatever the case; with "!" before it,
// it must not be found. The first rule that gives a field its value wins, so the special stands above the
// general. "$1" is the first group that matched, "#1" the same as a number.
#pragma once

#include <map>
#include <regex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/json/json.h"
#include "core/run/preset_files.h"
#include "tests/measured/record.h"

namespace plimsoll::accuracy {

struct Condition {
  std::string field;
  std::regex pattern;
  bool must_match = true;
};

struct Rule {
  std::vector<Condition> when;
  std::vector<std::pair<std::string, json::Json>> set;  ///< pointer into the request, value
  std::string refuse;                                   ///< why the request cannot say this run, or ""
};

/// The files in the order of their names. What is wrong in them goes to `errors`.
std::vector<Rule> read_rules(std::span<const PresetFile> files, json::Errors& errors);

/// What the rules made of a record.
struct Draft {
  std::map<std::string, json::Json> values;  ///< pointer into the request, value
  std::string refused;                       ///< the first refusal, or ""
};
void apply(const std::vector<Rule>& rules, const Record& record, Draft& out);

}  // namespace plimsoll::accuracy
