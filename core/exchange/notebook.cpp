#include "core/exchange/notebook.h"

#include <algorithm>

#include "core/exchange/formats/python_calls.h"
#include "core/exchange/languages.h"
#include "core/json/at.h"

namespace plimsoll::exchange {

namespace {

using json::at;
using json::Json;

// A list of lines, or one text.
void add_text(const Json& source, std::string& code) {
  if (source.is_string()) code += source.get_ref<const std::string&>();
  if (source.is_array()) {
    for (const Json& line : source) {
      if (line.is_string()) code += line.get_ref<const std::string&>();
    }
  }
  if (!code.empty() && code.back() != '\n') code += '\n';
}

void add_cells(const Json& cells, std::string& code) {
  if (!cells.is_array()) return;
  for (const Json& cell : cells) {
    if (at(cell, "cell_type") != Json("code")) continue;
    add_text(at(cell, "source"), code);
    add_text(at(cell, "input"), code);  // version 3
  }
}

// The command that a cell starts, without its "!"; "" when there is none with settings.
std::string command_in(const std::string& code) {
  for (size_t line = 0; line < code.size();) {
    size_t end = std::min(code.find('\n', line), code.size());
    if (code[line] == '!') {
      while (end < code.size() && code[end - 1] == '\\')
        end = std::min(code.find('\n', end + 1), code.size());
      std::string command = code.substr(line + 1, end - line - 1);
      const size_t flag = command.find(" --");
      if (flag != std::string::npos && command.find(" --", flag + 1) != std::string::npos &&
          command.find("pip ") == std::string::npos) {
        return command;
      }
    }
    line = end + 1;
  }
  return "";
}

bool sets_something(const Node& python) {
  return axolotl_call(python) != nullptr || !python_sections(python).members.empty();
}

}  // namespace

bool is_notebook(std::string_view text) {
  return text.find("\"nbformat\"") != std::string_view::npos &&
         text.find("\"cell_type\"") != std::string_view::npos;
}

Document read_notebook(std::string_view text) {
  Document document;
  document.language = Language::json;
  const auto notebook = json::parse(text, document.errors);
  if (!notebook || !document.errors.empty()) return document;
  std::string code;
  add_cells(at(*notebook, "cells"), code);
  const Json& sheets = at(*notebook, "worksheets");
  if (sheets.is_array()) {
    for (const Json& sheet : sheets) add_cells(at(sheet, "cells"), code);
  }
  document = read_python(code);
  if (document.errors.empty() && !sets_something(document.root)) {
    if (std::string command = command_in(code); !command.empty()) {
      document = read_shell(command);
      code = std::move(command);
    }
  }
  document.code = std::move(code);
  return document;
}

}  // namespace plimsoll::exchange
