// The commands between requests and other people's files: import, patch, diagnose; and the lists of presets.

#include <algorithm>
#include <cstdio>

#include "core/cli/answer.h"
#include "core/cli/commands.h"
#include "core/cli/diagnosis_table.h"
#include "core/cli/exchange.h"
#include "core/cli/input.h"
#include "core/cli/texts.h"
#include "core/cli/values.h"
#include "core/json/ascii.h"
#include "core/json/at.h"
#include "core/report/diagnose.h"
#include "core/report/exchange.h"
#include "core/report/report.h"

namespace plimsoll::cli {

using json::at;

namespace {

// One file gives its request, so that `plimsoll import FILE | plimsoll report` works; --json gives what
// became of every key as well.
int import_one(const Options& options) {
  const Imported imported = import_file(options.files[0], catalog());
  const json::Json& answer = imported.answer;
  if (options.json || wants_table(options)) {
    print(options.json ? json::write(answer, output_is_terminal()) + "\n" : import_table(answer));
    if (succeeded(answer)) return finish(fits);
    if (options.json) return finish(bad_input);
    return refuse(at(answer, "errors"));
  }
  if (!succeeded(answer)) return refuse(at(answer, "errors"));
  for (const json::Json& one : at(answer, "missing")) {
    std::fprintf(stderr, "Not said: %s: %s\n", at(one, "pointer").get<std::string>().c_str(),
                 at(one, "message").get<std::string>().c_str());
  }
  std::fputs(not_counted(answer).c_str(), stderr);
  print(json::write(at(answer, "request")) + "\n");
  return finish(fits);
}

// The request may be in any format that `plimsoll import` reads. Half a request that no format claims goes as
// it is.
std::string request_of(const std::string& path) {
  if (path.empty()) return "";
  const json::Json request = at(import_file(path, catalog()).answer, "request");
  if (request.is_object()) return json::write(request);
  Input input(path);
  return input.rest();
}

// Whether a row of a list is called so: in what names it, whatever the case.
bool is_called(const json::Json& row, const std::string& word) {
  for (const char* key : {"id", "name", "hf_id", "family", "aliases", "vendor", "pointer", "what"}) {
    if (ascii::lower(json::write(at(row, key))).find(ascii::lower(word)) != std::string::npos) return true;
  }
  return false;
}

// A list of the core, or those of its rows that have every word that was given.
int show_list(const std::string& text, const char* list, Render table, const Options& options) {
  json::Json tree = parsed(text);
  if (options.files.empty()) {
    show(text, tree, table, {}, options);
    return finish(fits);
  }
  json::Json rows = json::Json::array();
  for (const json::Json& row : at(tree, list)) {
    const bool all = std::all_of(options.files.begin(), options.files.end(),
                                 [&row](const std::string& word) { return is_called(row, word); });
    if (all) rows.push_back(row);
  }
  std::string words;
  for (const std::string& word : options.files) words += (words.empty() ? "" : " ") + word;
  if (rows.empty())
    return refuse("unknown_name", "None of the " + std::string(list) + " has " + words + " in its name.",
                  "a part of a name, in any case; without one all of them are listed");
  tree[list] = std::move(rows);
  show(json::write(tree), tree, table, {}, options);
  return finish(fits);
}

}  // namespace

int command_import(const Options& options) {
  std::vector<std::string> files;
  for (const std::string& path : options.files) {
    for (std::string& file : files_below(path)) files.push_back(std::move(file));
  }
  if (!options.summary && files.size() == 1 && options.files.size() == 1) return import_one(options);
  std::vector<Imported> all;
  for (const std::string& file : files) {
    all.push_back(import_file(file, catalog()));
    if (!options.summary) {
      json::Json line = {{"file", file}};
      for (const auto& [key, value] : all.back().answer.items()) line[key] = value;
      print(json::write(line) + "\n");
    }
  }
  if (options.summary) {
    const json::Json summary = summary_of(all);
    print(wants_table(options) ? summary_table(summary) : json::write(summary, output_is_terminal()) + "\n");
  }
  return finish(fits);
}

int command_diagnose(const Options& options) {
  Input input(options.file.empty() ? "-" : options.file);
  const std::string pasted = input.rest();
  if (!input.problem().empty()) return refuse_input(input.problem());
  const std::string request =
      options.request.empty() ? request_in(pasted, catalog()) : request_of(options.request);
  std::string said = options.phase;
  for (const std::string& answer : options.answers) said += " " + answer;
  const std::string text = report::diagnosis_text(pasted, request, said, catalog());
  const json::Json diagnosis = parsed(text);
  if (!succeeded(diagnosis)) return refuse(at(diagnosis, "errors"));
  show(text, diagnosis, diagnosis_table, {}, options);
  return finish(fits);
}

// The file again, with the changes in it; --json tells which keys, and what has no place in such a file.
int command_patch(const Options& options) {
  Input file(options.files[0]), changes(options.files[1]);
  const std::string text = file.rest(), asked = changes.rest();
  for (const Input* input : {&file, &changes}) {
    if (!input->problem().empty()) return refuse_input(input->problem());
  }
  const std::string written = patch_content(text, asked, catalog());
  const json::Json answer = parsed(written);
  if (!succeeded(answer)) return refuse(at(answer, "errors"));
  if (options.json) {
    print((output_is_terminal() ? json::write(answer, true) : written) + "\n");
    return finish(fits);
  }
  for (const json::Json& left : at(answer, "left_out")) {
    std::fprintf(stderr, "Not in this file: %s = %s (%s)\n", at(left, "pointer").get<std::string>().c_str(),
                 json::write(at(left, "value")).c_str(), at(left, "why").get<std::string>().c_str());
  }
  print(at(answer, options.diff ? "diff" : "text").get<std::string>());
  return finish(fits);
}

int command_models(const Options& options) {
  return show_list(report::models_text(catalog()), "models", models_table, options);
}

int command_fields(const Options& options) {
  return show_list(report::fields_text(catalog()), "fields", fields_table, options);
}

int command_gpus(const Options& options) {
  return show_list(report::gpus_text(catalog()), "gpus", gpus_table, options);
}

}  // namespace plimsoll::cli
