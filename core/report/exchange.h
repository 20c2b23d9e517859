// Configurations in and out as JSON, for the command and the page.
//
//     std::string answer = report::import_text(text, "", catalog);   // JSON, Python, command line, link
//     std::string answer = report::import_text(text, tree, catalog); // YAML: its tree, see core/exchange/tree.h
//
// {"schema", "ok", "format": {"id", "name", "command"}, "partial", "request", "missing": [{"pointer", "message"}],
// "counts": {"used", "implied", "irrelevant",
//  "unsupported", "unknown"}, "keys": [{"key", "use", "pointer", "message", "at", "length"}], "notes",
//  "errors"}
// A model that is not known is an error of code unknown_model; the request is there all the same.
#pragma once

#include "core/exchange/import.h"
#include "core/run/catalog.h"

namespace plimsoll::report {

/// "json", "yaml", "python", "shell", "link" or "none": what import_text needs a tree for is "yaml".
std::string_view language_text(std::string_view text);

/// A text as a tree, of YAML the one that its parser made, of a script as `command` starts it.
exchange::Document read_with_tree(std::string_view text, std::string_view yaml_tree,
                                  std::string_view command = "");

std::string import_text(std::string_view text, std::string_view yaml_tree, const run::Catalog& catalog,
                        std::string_view around = "", std::string_view command = "");

/// The settings inside a longer paste (core/exchange/parts.h) as a JSON list of texts.
std::string parts_text(std::string_view text);

/// An import with its model looked up among the presets: a hub id, a local folder, or a repackaged checkpoint
/// ("unsloth/mistral-7b-bnb-4bit"). Versions of libraries are read from `around`, the longer paste that the
/// text stands in, if there is one; what no text says is listed as missing.
exchange::Import import_known(const exchange::Document& document, std::string_view text,
                              const run::Catalog& catalog, std::string_view around = "");
std::string write_import(const exchange::Import& import);

/// A request as a file of another tool: {"schema", "ok", "format", "text", "left_out": [POINTER], "errors"}.
/// Defaults of the request's stack that the tool's own stack does not share are written out.
/// Also what handout.h writes: environment, shell, checklist, markdown, csv, json; `before` is another
/// request, for the table of both.
std::string export_text(std::string_view request, std::string_view format, const run::Catalog& catalog,
                        std::string_view before = "");

/// {"formats": [{"id", "name", "reads", "writes", "language"}]}
std::string formats_text();

}  // namespace plimsoll::report
