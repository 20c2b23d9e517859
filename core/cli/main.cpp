// The command line: it reads requests and prints reports. All arithmetic is in the core.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "core/cli/advice_table.h"
#include "core/cli/advise.h"
#include "core/cli/diagnosis_table.h"
#include "core/cli/exchange.h"
#include "core/cli/input.h"
#include "core/cli/table.h"
#include "core/cli/values.h"
#include "core/json/json.h"
#include "core/report/advice.h"
#include "core/report/compare.h"
#include "core/report/diagnose.h"
#include "core/report/exchange.h"
#include "core/report/preset_files.h"
#include "core/report/report.h"

namespace plimsoll::cli {
namespace {

// A team's CI tells these apart; CLI11's own codes (100 and up) become bad_input too.
enum ExitCode { fits = 0, tight = 1, no = 2, bad_input = 3 };

struct Options {
  std::string file = "-";
  std::string gpu;
  std::string format;
  std::vector<std::string> answers;
  std::string request, phase, plan;
  bool json = false;
  bool table = false;
  bool lines = false;
  bool summary = false;
  bool quick = false;
  bool diff = false;
  std::vector<std::string> files;
};

constexpr const char* examples = R"(Examples:
  plimsoll report request.json               tables on a terminal, JSON into a pipe or a file
  plimsoll report --json < request.json
  plimsoll report --lines < requests.jsonl   one request a line in, one report a line out, in order
  plimsoll check request.json --gpu a10g     exit code: 0 fits, 1 tight, 2 no, 3 bad input
  plimsoll advise request.json               what makes it fit, on the chosen GPU and on every size
  plimsoll advise axolotl.yaml --gpu l4 --plan same > fixed.yaml   the same file, and now it fits
  plimsoll compare before.json after.json    what each difference is worth
  plimsoll gpus                              the names that --gpu takes
  plimsoll import axolotl.yaml               a configuration of another tool to a request
  plimsoll patch axolotl.yaml changes.json   the same file with a plan's changes in it, comments kept
  plimsoll import configs/ --summary         what becomes of every key of a folder

The smallest request is {"model": "mistralai/Mistral-7B-v0.3"}.)";

constexpr const char* about_errors =
    R"(A request that cannot be read gives exit code 3 and an empty standard output.
What is wrong stands on standard error, as {"ok":false,"errors":[...]} when that is not a terminal.)";

constexpr const char* about_lines =
    R"(With --lines the error object takes the line of its request on standard output,
{"schema":1,"ok":false,"errors":[...]}, so that lines keep their order. The other lines are still
answered, and the exit code is 3 at the end.)";

bool wants_table(const Options& options) { return options.table || (!options.json && output_is_terminal()); }

using Render = std::string (*)(const json::Json&, const Style&);

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

int finish(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  std::fputs("The output could not be written.\n", stderr);
  return bad_input;
}

int refuse(const json::Json& errors) {
  const std::string text = errors_are_terminal()
                               ? error_lines(errors)
                               : json::write(json::Json{{"ok", false}, {"errors", errors}}) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
  return bad_input;
}

int refuse(const std::string& code, const std::string& message, const std::string& allowed) {
  return refuse(json::Json::array(
      {json::Json{{"code", code}, {"pointer", ""}, {"message", message}, {"allowed", allowed}}}));
}

int refuse_input(const Input& input) {
  return refuse("unreadable_file", input.problem(), "a file that can be read, or - for standard input");
}

const report::Catalog& catalog() {
  static const report::Catalog read = report::read_catalog(preset_files());
  return read;
}

json::Json member(const json::Json& object, const char* key) {
  if (!object.is_object()) return json::Json();
  const auto found = object.find(key);
  return found == object.end() ? json::Json() : *found;
}

bool succeeded(const json::Json& report) { return member(report, "ok") == json::Json(true); }

// A table, or JSON: indented for a reader at a terminal, else the bytes that the core wrote.
void show(const std::string& text, const json::Json& tree, Render render, const Options& options) {
  if (wants_table(options)) {
    print(render(tree, output_style()));
  } else {
    print((output_is_terminal() ? json::write(tree, true) : text) + "\n");
  }
}

int report_lines(Input& input) {
  int code = 0;
  std::string request;
  while (input.line(request)) {
    const std::string text = report::report_text(request, catalog());
    if (report::answered(text)) {
      print(text + "\n");
    } else {
      code = bad_input;
      print(
          json::write(json::Json{{"schema", 1}, {"ok", false}, {"errors", member(parsed(text), "errors")}}) +
          "\n");
    }
    std::fflush(stdout);  // a program at the other end of the pipe may be waiting for this line
  }
  return input.problem().empty() ? finish(code) : refuse_input(input);
}

// The same request, asking for the parts that take longer too, unless it says itself what it wants.
std::string with_everything(const std::string& request) {
  json::Errors errors;
  auto tree = json::parse(request, errors);
  if (!tree || !errors.empty() || !tree->is_object() || tree->contains("want")) return request;
  (*tree)["want"] = {"plans", "limits", "machines"};
  return json::write(*tree);
}

int command_report(const Options& options) {
  Input input(options.file);
  if (!input.problem().empty()) return refuse_input(input);
  if (options.lines) return report_lines(input);
  const std::string request = input.rest();
  if (!input.problem().empty()) return refuse_input(input);
  const bool brief = options.quick || wants_table(options);
  const std::string text = report::report_text(brief ? request : with_everything(request), catalog());
  const json::Json report = parsed(text);
  if (!succeeded(report)) return refuse(member(report, "errors"));
  show(text, report, report_table, options);
  return finish(0);
}

int command_check(const Options& options) {
  Input input(options.file);
  const std::string request = input.rest();
  if (!input.problem().empty()) return refuse_input(input);
  const std::string text = report::report_text(on_gpu(request, options.gpu), catalog());
  const json::Json report = parsed(text);
  if (!succeeded(report)) return refuse(member(report, "errors"));
  show(text, report, verdict_table, options);
  const json::Json verdict = member(member(report, "gpu"), "verdict");
  if (verdict == "fits") return finish(fits);
  return finish(verdict == "tight" ? tight : no);
}

// One file gives its request, so that `plimsoll import FILE | plimsoll report` works; --json gives what
// became of every key as well.
int import_one(const Options& options) {
  const Imported imported = import_file(options.files[0], catalog());
  const json::Json& answer = imported.answer;
  if (options.json || wants_table(options)) {
    print(options.json ? json::write(answer, output_is_terminal()) + "\n" : import_table(answer));
    if (succeeded(answer)) return finish(0);
    if (options.json) return finish(bad_input);
    return refuse(member(answer, "errors"));
  }
  if (!succeeded(answer)) return refuse(member(answer, "errors"));
  for (const json::Json& one : member(answer, "missing")) {
    std::fprintf(stderr, "Not said: %s: %s\n", member(one, "pointer").get<std::string>().c_str(),
                 member(one, "message").get<std::string>().c_str());
  }
  print(json::write(member(answer, "request")) + "\n");
  return finish(0);
}

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
  return finish(0);
}

// The request may be in any format that `plimsoll import` reads. Half a request that no format claims goes as
// it is.
std::string request_of(const std::string& path) {
  if (path.empty()) return "";
  const json::Json request = member(import_file(path, catalog()).answer, "request");
  if (request.is_object()) return json::write(request);
  Input input(path);
  return input.rest();
}

int command_diagnose(const Options& options) {
  Input input(options.file);
  const std::string pasted = input.rest();
  if (!input.problem().empty()) return refuse_input(input);
  const std::string request =
      options.request.empty() ? request_in(pasted, catalog()) : request_of(options.request);
  std::string said = options.phase;
  for (const std::string& answer : options.answers) said += " " + answer;
  const std::string text = report::diagnosis_text(pasted, request, said, catalog());
  const json::Json diagnosis = parsed(text);
  if (!succeeded(diagnosis)) return refuse(member(diagnosis, "errors"));
  show(text, diagnosis, diagnosis_table, options);
  return finish(0);
}

// The file with one plan's changes in it, or their lines alone.
int print_plan(const json::Json& advice, const Asked& asked, const Options& options) {
  const json::Json gpu = member(advice, "gpu");
  if (asked.file.empty() || !gpu.is_object()) {
    return refuse("no_file", "A plan is written into a configuration, for a card that is named.",
                  "a file of another tool, and --gpu with a name of `plimsoll gpus`");
  }
  if (member(gpu, "verdict") == "fits") {
    std::fputs("It fits as it is.\n", stderr);
    print(options.diff ? "" : asked.file);
    return finish(0);
  }
  const json::Json plan = plan_named(advice, options.plan), file = member(plan, "file");
  if (!file.is_object()) {
    return refuse("no_plan", "No plan of this kind makes it fit this card.",
                  "same, fewest or fastest, where `plimsoll advise` lists one; or a larger card");
  }
  std::fputs(not_in_file(file).c_str(), stderr);
  print(member(file, options.diff ? "diff" : "text").get<std::string>());
  return finish(0);
}

// Of a configuration of another tool the plans come as that file again.
int command_advise(const Options& options) {
  Input input(options.file);
  const Asked asked = read_asked(input.rest(), options.gpu, catalog());
  if (!input.problem().empty()) return refuse_input(input);
  if (!asked.errors.empty()) return refuse(asked.errors);
  const std::string text = report::advise_text(asked.request, catalog());
  json::Json advice = parsed(text);
  if (!succeeded(advice)) return refuse(member(advice, "errors"));
  add_files(advice, asked, catalog());
  if (!options.plan.empty()) return print_plan(advice, asked, options);
  if (asked.file.empty()) {
    show(text, advice, advice_table, options);
  } else if (options.diff) {
    print(plan_diffs(advice, output_style()));
  } else {
    show(json::write(advice), advice, advice_table, options);
    if (wants_table(options)) print("\n" + plan_diffs(advice, output_style()));
  }
  return finish(0);
}

int command_compare(const Options& options) {
  std::vector<std::string> requests;
  for (const std::string& file : options.files) {
    Input input(file);
    requests.push_back(input.rest());
    if (!input.problem().empty()) return refuse_input(input);
  }
  const std::string text = report::compare_text(requests[0], requests[1], catalog());
  const json::Json comparison = parsed(text);
  if (!succeeded(comparison)) return refuse(member(comparison, "errors"));
  show(text, comparison, compare_table, options);
  return finish(0);
}

// The request may itself be a configuration of any tool: then this converts one into another.
int command_export(const Options& options) {
  Input input(options.file);
  const std::string text = input.rest();
  if (!input.problem().empty()) return refuse_input(input);
  const json::Json read = import_content(text, catalog());
  if (!member(read, "request").is_object()) return refuse(member(read, "errors"));
  const json::Json answer = parsed(report::export_text(json::write(member(read, "request")), options.format,
                                                       catalog(), request_of(options.request)));
  if (!succeeded(answer)) return refuse(member(answer, "errors"));
  if (options.json) {
    print(json::write(answer, output_is_terminal()) + "\n");
    return finish(0);
  }
  for (const json::Json& pointer : member(answer, "left_out"))
    std::fprintf(stderr, "Not in this format: %s\n", pointer.get<std::string>().c_str());
  print(member(answer, "text").get<std::string>());
  return finish(0);
}

// The file again, with the changes in it; --json tells which keys, and what has no place in such a file.
int command_patch(const Options& options) {
  Input file(options.files[0]), changes(options.files[1]);
  const std::string text = file.rest(), asked = changes.rest();
  for (const Input* input : {&file, &changes}) {
    if (!input->problem().empty()) return refuse_input(*input);
  }
  const std::string written = patch_content(text, asked, catalog());
  const json::Json answer = parsed(written);
  if (!succeeded(answer)) return refuse(member(answer, "errors"));
  if (options.json) {
    print((output_is_terminal() ? json::write(answer, true) : written) + "\n");
    return finish(0);
  }
  for (const json::Json& left : member(answer, "left_out")) {
    std::fprintf(stderr, "Not in this file: %s = %s (%s)\n",
                 member(left, "pointer").get<std::string>().c_str(),
                 json::write(member(left, "value")).c_str(), member(left, "why").get<std::string>().c_str());
  }
  print(member(answer, options.diff ? "diff" : "text").get<std::string>());
  return finish(0);
}

int command_list(const Options& options, const std::string& text, Render render) {
  show(text, parsed(text), render, options);
  return finish(0);
}

void add_format_flags(CLI::App* command, Options& options) {
  auto* json = command->add_flag("--json", options.json, "JSON also on a terminal");
  command->add_flag("--table", options.table, "Tables also into a pipe or a file")->excludes(json);
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app("Will this fine-tuning run fit on this GPU, and what fills its memory?", "plimsoll");
  app.set_version_flag("--version", std::string(report::version()));
  app.require_subcommand(1);

  CLI::App* report = app.add_subcommand("report", "A request in, its report out");
  report->add_option("FILE", options.file, "The request; standard input when it is - or left out");
  add_format_flags(report, options);
  auto* lines = report->add_flag("--lines", options.lines, "One request a line in, one report a line out");
  lines->excludes("--table");
  report->add_flag("--quick", options.quick, "Leave out plans, limits and machines; --lines always does");

  CLI::App* check = app.add_subcommand("check", "Does it fit? Exit code 0 fits, 1 tight, 2 no, 3 bad input");
  check->add_option("FILE", options.file, "The request; standard input when it is - or left out");
  check->add_option("--gpu", options.gpu, "The card, by its name in `plimsoll gpus`")->required();
  add_format_flags(check, options);

  CLI::App* import = app.add_subcommand("import", "A configuration of another tool to a request");
  import->add_option("FILE", options.files, "Configurations, or folders of them; - for standard input")
      ->required();
  import->add_flag("--summary", options.summary, "How many were read, and what became of their keys");
  add_format_flags(import, options);

  CLI::App* diagnose = app.add_subcommand("diagnose", "An error of lacking memory, explained");
  diagnose->add_option("FILE", options.file, "The pasted text; standard input when it is - or left out");
  diagnose->add_option("--request", options.request, "The run's request or configuration, even half of it");
  diagnose->add_option("--phase", options.phase, "When it happened, where the text does not show it")
      ->check(CLI::IsMember(
          {"load", "forward", "loss", "backward", "optimizer", "eval", "save", "generate", "merge"}));
  diagnose->add_option("--answer", options.answers, "An answer to the question of a diagnosis, as ID=CHOICE")
      ->expected(1)
      ->take_all();
  add_format_flags(diagnose, options);

  CLI::App* advise = app.add_subcommand("advise", "The smallest change that makes it fit, on every size");
  advise->add_option("FILE", options.file,
                     "The request or any configuration; standard input when it is - or left out");
  advise->add_option("--gpu", options.gpu, "The card, which a configuration does not name");
  advise
      ->add_option(
          "--plan", options.plan,
          "Print the configuration with this plan in it: nothing learned changes, fewest changes, fastest")
      ->check(CLI::IsMember({"same", "fewest", "fastest"}));
  advise->add_flag("--diff", options.diff, "The changed lines of the configuration only");
  add_format_flags(advise, options);

  CLI::App* compare = app.add_subcommand("compare", "Two requests: what each difference is worth");
  compare->add_option("FILES", options.files, "Two requests")->required()->expected(2);
  add_format_flags(compare, options);

  CLI::App* exporter = app.add_subcommand("export", "A request as a configuration of another tool");
  exporter
      ->add_option("--as", options.format,
                   "axolotl, llamafactory, torchtune, trl, hf, trl-python, unsloth, "
                   "ms-swift, cli, peft, deepspeed, accelerate, sagemaker, nested, request; "
                   "or environment, shell, checklist, markdown, csv, json")
      ->required();
  exporter->add_option("FILE", options.file, "The request, or any configuration; - for standard input");
  exporter->add_option("--before", options.request, "With --as markdown: what it is compared with");
  exporter->add_flag("--json", options.json, "What was left out as well");

  CLI::App* patch = app.add_subcommand("patch", "A configuration with changes written back into it");
  patch
      ->add_option("FILES", options.files,
                   "The configuration, and the changes: a plan's list, or the request it is to say")
      ->required()
      ->expected(2);
  patch->add_flag("--diff", options.diff, "The changed lines only");
  patch->add_flag("--json", options.json, "The keys that changed, and what has no place in such a file");

  CLI::App* models = app.add_subcommand("models", "The models that are known by name");
  add_format_flags(models, options);
  CLI::App* gpus = app.add_subcommand("gpus", "The GPUs that are known by name");
  add_format_flags(gpus, options);

  app.footer(examples);
  report->footer(std::string(about_errors) + "\n\n" + about_lines);
  check->footer(about_errors);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? 0 : bad_input;
  }
  if (check->parsed()) return command_check(options);
  if (exporter->parsed()) return command_export(options);
  if (patch->parsed()) return command_patch(options);
  if (import->parsed()) return command_import(options);
  if (diagnose->parsed()) return command_diagnose(options);
  if (advise->parsed()) return command_advise(options);
  if (compare->parsed()) return command_compare(options);
  if (models->parsed()) return command_list(options, report::models_text(catalog()), models_table);
  if (gpus->parsed()) return command_list(options, report::gpus_text(catalog()), gpus_table);
  return command_report(options);
}

}  // namespace
}  // namespace plimsoll::cli

int main(int argc, char** argv) { return plimsoll::cli::run(argc, argv); }
