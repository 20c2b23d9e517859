// The commands that answer a request: report, check, advise, compare, export.

#include "core/cli/commands.h"

#include <algorithm>
#include <cstdio>

#include "core/cli/advice_table.h"
#include "core/cli/advise.h"
#include "core/cli/answer.h"
#include "core/cli/brief_table.h"
#include "core/cli/exchange.h"
#include "core/cli/input.h"
#include "core/cli/texts.h"
#include "core/cli/values.h"
#include "core/json/at.h"
#include "core/report/advice.h"
#include "core/report/compare.h"
#include "core/report/exchange.h"
#include "core/report/report.h"

namespace plimsoll::cli {

using json::at;

namespace {

int report_lines(Input& input, const Wishes& wishes) {
  int code = 0;
  std::string request;
  while (input.line(request)) {
    Asked read;
    read.request = request;
    read.fresh = false;
    const Asked asked = with_flags(read, wishes, catalog());
    const report::ReportAnswer answer = report::report_answer(asked.request, catalog());
    if (asked.errors.empty() && answer.ok) {
      print(with_said(answer.text, asked.said) + "\n");
    } else {
      code = bad_input;
      print(json::write(json::Json{
                {"schema", 1},
                {"ok", false},
                {"errors", asked.errors.empty() ? at(parsed(answer.text), "errors") : asked.errors}}) +
            "\n");
    }
    std::fflush(stdout);  // a program at the other end of the pipe may be waiting for this line
  }
  return input.problem().empty() ? finish(code) : refuse_input(input.problem());
}

// The same request, asking for the parts that take longer too, unless it says itself what it wants.
std::string with_everything(const std::string& request) {
  json::Errors errors;
  auto tree = json::parse(request, errors);
  if (!tree || !errors.empty() || !tree->is_object() || tree->contains("want")) return request;
  (*tree)["want"] = {"plans", "limits", "machines"};
  return json::write(*tree);
}

// The same request, asking for one part more.
std::string asking_for(const std::string& request, const char* part) {
  json::Errors errors;
  auto tree = json::parse(request, errors);
  if (!tree || !errors.empty() || !tree->is_object()) return request;
  json::Json& want = (*tree)["want"];
  if (want.is_null()) want = json::Json::array();
  if (want.is_array()) want.push_back(part);
  return json::write(*tree);
}

// What stands first on a terminal needs the fixes too.
void show_brief(const std::string& text, const json::Json& report, const Asked& asked,
                const Options& options) {
  if (!wants_table(options)) return show(text, report, report_table, asked.said, options);
  const Style style = output_style();
  print(brief_table(report, parsed(report::advise_text(asked.request, catalog())), style) +
        said_lines(asked.said, style));
}

// The file with one plan's changes in it, or their lines alone.
int print_plan(const json::Json& advice, const Asked& asked, const Options& options) {
  const json::Json gpu = at(advice, "gpu");
  if (asked.file.empty() || !gpu.is_object()) {
    return refuse("no_file", "A plan is written into a configuration, for a card that is named.",
                  "a file of another tool, and --gpu with a name of `plimsoll gpus`");
  }
  if (at(gpu, "verdict") == "fits") {
    std::fputs("It fits as it is.\n", stderr);
    print(options.diff ? "" : asked.file);
    return finish(fits);
  }
  say(asked.said);
  const json::Json plan = plan_named(advice, options.plan), file = at(plan, "file");
  if (!file.is_object()) {
    return refuse("no_plan", "No plan of this kind makes it fit this card.",
                  "same, fewest or fastest, where `plimsoll advise` lists one; or a larger card");
  }
  std::fputs(not_in_file(file).c_str(), stderr);
  print(at(file, options.diff ? "diff" : "text").get<std::string>());
  const json::Json report = parsed(report::report_text(request_of_file(asked.request, plan), catalog()));
  const json::Json verdict = at(at(report, "gpu"), "verdict");
  if (verdict == "fits") return finish(fits);
  std::fputs(lacking_words(plan).c_str(), stderr);
  return finish(verdict == "tight" ? tight : no);
}

}  // namespace

int command_report(const Options& options) {
  if (options.lines) {
    Input input(options.file.empty() ? "-" : options.file);
    if (!input.problem().empty()) return refuse_input(input.problem());
    return report_lines(input, options.wishes);
  }
  const Asked asked = read_asked(options.file, options.wishes, catalog());
  if (!asked.errors.empty()) return refuse(asked.errors);
  const bool brief = options.quick || wants_table(options);
  const std::string text =
      report::report_text(brief ? asked.request : with_everything(asked.request), catalog());
  const json::Json report = parsed(text);
  if (!succeeded(report)) return refuse(at(report, "errors"));
  if (options.all) {
    show(text, report, report_table, asked.said, options);
  } else {
    show_brief(text, report, asked, options);
  }
  return finish(fits);
}

int command_check(const Options& options) {
  const Asked asked = read_asked(options.file, options.wishes, catalog());
  if (!asked.errors.empty()) return refuse(asked.errors);
  const std::string text = report::report_text(asked.request, catalog());
  const json::Json report = parsed(text);
  if (!succeeded(report)) return refuse(at(report, "errors"));
  if (!at(report, "gpu").is_object()) {
    if (const std::string why = no_verdict(report); !why.empty())
      return refuse("unsupported", why, "a card of NVIDIA, AMD or Intel");
    return refuse("missing", "Nothing is checked before the card is known.",
                  "--gpu NAME, or hardware.gpu in the request");
  }
  show_brief(text, report, asked, options);
  const json::Json verdict = at(at(report, "gpu"), "verdict");
  if (verdict == "fits") return finish(fits);
  return finish(verdict == "tight" ? tight : no);
}

// Of a configuration of another tool the plans come as that file again.
int command_advise(const Options& options) {
  const Asked asked = read_asked(options.file, options.wishes, catalog());
  if (!asked.errors.empty()) return refuse(asked.errors);
  const std::string text = report::advise_text(asking_for(asked.request, "rent"), catalog());
  json::Json advice = parsed(text);
  if (!succeeded(advice)) return refuse(at(advice, "errors"));
  add_files(advice, asked, catalog());
  if (!options.plan.empty()) return print_plan(advice, asked, options);
  if (asked.file.empty()) {
    show(text, advice, advice_table, asked.said, options);
  } else if (options.diff) {
    say(asked.said);
    print(plan_diffs(advice, output_style()));
  } else {
    show(json::write(advice), advice, advice_table, asked.said, options);
    if (wants_table(options)) print("\n" + plan_diffs(advice, output_style()));
  }
  return finish(fits);
}

// Two requests, each with the flags; or one, without and with them.
int command_compare(const Options& options) {
  const bool two = options.files.size() == 2;
  if (!two && !any(options.wishes)) {
    return refuse("missing", "There is nothing to compare this request with.",
                  "a second request, or flags: what they change is compared");
  }
  const Asked a = read_asked(options.files[0], two ? options.wishes : Wishes(), catalog());
  // What a model's name leaves open is filled in for the flags too, so it is read again.
  const Asked b = two || a.fresh ? read_asked(options.files.back(), options.wishes, catalog())
                                 : with_flags(a, options.wishes, catalog());
  for (const Asked* one : {&a, &b}) {
    if (!one->errors.empty()) return refuse(one->errors);
  }
  AllSaid said = b.said;
  for (const run::Choice& one : a.said) {
    if (std::find(said.begin(), said.end(), one) == said.end()) said.push_back(one);
  }
  const std::string text = report::compare_text(a.request, b.request, catalog());
  const json::Json comparison = parsed(text);
  if (!succeeded(comparison)) return refuse(at(comparison, "errors"));
  show(text, comparison, compare_table, said, options);
  return finish(fits);
}

// The request may itself be a configuration of any tool: then this converts one into another.
int command_export(const Options& options) {
  const Asked asked = read_asked(options.file, options.wishes, catalog());
  if (!asked.errors.empty()) return refuse(asked.errors);
  const json::Json read = import_content(asked.request, catalog());
  if (!at(read, "request").is_object()) return refuse(at(read, "errors"));
  Asked before;
  if (!options.request.empty()) before = read_asked(options.request, Wishes(), catalog());
  if (!before.errors.empty()) return refuse(before.errors);
  const json::Json answer = parsed(
      report::export_text(json::write(at(read, "request")), options.format, catalog(), before.request));
  if (!succeeded(answer)) return refuse(at(answer, "errors"));
  if (options.json) {
    print((output_is_terminal() ? json::write(answer, true) : with_said(json::write(answer), asked.said)) +
          "\n");
    return finish(fits);
  }
  say(asked.said);
  for (const json::Json& pointer : at(answer, "left_out"))
    std::fprintf(stderr, "Not in this format: %s\n", pointer.get<std::string>().c_str());
  print(at(answer, "text").get<std::string>());
  return finish(fits);
}

}  // namespace plimsoll::cli
