#include "core/cli/answer.h"

#include <cstdio>

#include "core/cli/input.h"
#include "core/cli/layout.h"
#include "core/cli/values.h"
#include "core/json/at.h"
#include "core/run/preset_files.h"

namespace plimsoll::cli {

using json::at;

const run::Catalog& catalog() {
  static const run::Catalog read = run::read_catalog(preset_files());
  return read;
}

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

int refuse_input(const std::string& problem) {
  return refuse("unreadable_file", problem, "a file that can be read, or - for standard input");
}

bool succeeded(const json::Json& answer) { return at(answer, "ok") == json::Json(true); }

bool wants_table(const Options& options) { return options.table || (!options.json && output_is_terminal()); }

void say(const AllSaid& said) {
  for (const std::string& line : sentences(said)) std::fputs((line + "\n").c_str(), stderr);
}

std::string with_said(const std::string& text, const AllSaid& said) {
  if (said.empty() || text.empty() || text.back() != '}') return text;
  return text.substr(0, text.size() - 1) + ",\"command_line\":" + json::write(as_json(said)) + "}";
}

std::string said_lines(const AllSaid& said, const Style& style) {
  const std::vector<std::string> lines = sentences(said);
  return lines.empty() ? "" : "\n" + heading("From the command line", style) + points(lines, style);
}

void show(const std::string& text, const json::Json& tree, Render render, const AllSaid& said,
          const Options& options) {
  if (wants_table(options)) {
    const Style style = output_style();
    print(render(tree, style) + said_lines(said, style));
  } else {
    const std::string whole = with_said(text, said);
    print((output_is_terminal() ? json::write(parsed(whole), true) : whole) + "\n");
  }
}

}  // namespace plimsoll::cli
