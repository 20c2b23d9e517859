// How every command ends: its answer on standard output, or what is wrong on standard error, and an exit
// code.
//
//     if (!succeeded(report)) return refuse(json::at(report, "errors"));
//     show(text, report, report_table, said, options);
//     return finish(fits);
#pragma once

#include <string>

#include "core/cli/options.h"
#include "core/cli/table.h"
#include "core/json/json.h"
#include "core/run/catalog.h"

namespace plimsoll::cli {

// A team's CI tells these apart; CLI11's own codes (100 and up) become bad_input too.
enum ExitCode { fits = 0, tight = 1, no = 2, bad_input = 3 };

const run::Catalog& catalog();

void print(const std::string& text);
int finish(int code);
int refuse(const json::Json& errors);
int refuse(const std::string& code, const std::string& message, const std::string& allowed);
int refuse_input(const std::string& problem);

bool succeeded(const json::Json& answer);

bool wants_table(const Options& options);

/// Beside an answer that is no report, such as a configuration.
void say(const AllSaid& said);

/// The object's text with "command_line" as its last member, when there is something to say.
std::string with_said(const std::string& text, const AllSaid& said);

/// The same for people: a list to end a table with.
std::string said_lines(const AllSaid& said, const Style& style);

using Render = std::string (*)(const json::Json&, const Style&);

/// A table, or JSON: indented for a reader at a terminal, else the bytes that the core wrote.
void show(const std::string& text, const json::Json& tree, Render render, const AllSaid& said,
          const Options& options);

}  // namespace plimsoll::cli
