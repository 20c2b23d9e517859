// The commands between requests and other people's files: import, patch, diagnose; and the lists of presets.

#include <cstdio>

#include "core/cli/answer.h"
#include "core/cli/commands.h"
#include "core/cli/diagnosis_table.h"
#include "core/cli/exchange.h"
#include "core/cli/input.h"
#include "core/cli/texts.h"
#include "core/cli/values.h"
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
  const std::string text = report::models_text(catalog());
  show(text, parsed(text), models_table, {}, options);
  return finish(fits);
}

int command_fields(const Options& options) {
  const std::string text = report::fields_text(catalog());
  show(text, parsed(text), fields_table, {}, options);
  return finish(fits);
}

int command_gpus(const Options& options) {
  const std::string text = report::gpus_text(catalog());
  show(text, parsed(text), gpus_table, {}, options);
  return finish(fits);
}

}  // namespace plimsoll::cli
