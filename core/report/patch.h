// A pasted file with changes written back into it, as JSON for the command and the page.
//
//     std::string answer = report::patch_text(text, "", R"([{"pointer": "/training/max_length", "to":
//     1024}])",
//                                             catalog);
//
// The changes are a list as a plan has it ([{"pointer", "to"}], or {"changes": [...]}), two requests
// ({"before", "after"}), or the request that the file is to say.
//
// {"schema", "ok", "format": {"id", "name"}, "text", "diff", "keys": [{"pointer", "key", "how"}],
//  "left_out": [{"pointer", "value", "why"}], "environment": {NAME: VALUE}, "request", "errors"}
#pragma once

#include "core/exchange/patch.h"
#include "core/run/catalog.h"

namespace plimsoll::report {

/// `yaml_tree` as in exchange.h: the tree of a YAML text, "" for every other language.
std::string patch_text(std::string_view text, std::string_view yaml_tree, std::string_view changes,
                       const run::Catalog& catalog);
std::string patch_text(const exchange::Document& document, std::string_view text, std::string_view changes,
                       const run::Catalog& catalog);

}  // namespace plimsoll::report
