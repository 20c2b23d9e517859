#include "core/exchange/notebook.h"

#include <algorithm>

#include "core/exchange/formats/python_calls.h"
#include "core/exchange/languages.h"
#include "core/json/ascii.h"
#include "core/json/at.h"

namespace plimsoll::exchange {

namespace {

using json::at;
using json::Json;

const Json& elements(const Json& value) {
  static const Json none = Json::array();
  return value.is_array() ? value : none;
}

// A list of lines, or one text.
void add_text(const Json& source, std::string& code) {
  if (source.is_string()) code += source.get_ref<const std::string&>();
  for (const Json& line : elements(source)) {
    if (line.is_string()) code += line.get_ref<const std::string&>();
  }
  if (!code.empty() && code.back() != '\n') code += '\n';
}

void add_source(const Json& cell, std::string& code) {
  add_text(at(cell, "source"), code);
  add_text(at(cell, "input"), code);  // version 3
}

void add_outputs(const Json& cell, std::string& printed) {
  for (const Json& output : elements(at(cell, "outputs"))) {
    add_text(at(output, "text"), printed);
    add_text(at(at(output, "data"), "text/plain"), printed);
    for (const Json& frame : elements(at(output, "traceback"))) add_text(frame, printed);
  }
}

// Of every code cell what `add` takes.
void add_cells(const Json& notebook, void (*add)(const Json& cell, std::string& text), std::string& text) {
  const auto of = [&](const Json& cells) {
    for (const Json& cell : elements(cells)) {
      if (at(cell, "cell_type") == Json("code")) add(cell, text);
    }
  };
  of(at(notebook, "cells"));
  for (const Json& sheet : elements(at(notebook, "worksheets"))) of(at(sheet, "cells"));
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

// "!accelerate launch --num_processes 4 train.py" starts what a cell wrote: how many processes, and by which file.
void add_launcher(const std::string& code, Node& python) {
  for (const std::string_view launcher : {"!accelerate launch ", "!torchrun ", "!deepspeed "}) {
    const size_t at = code.find(launcher);
    if (at == std::string::npos || (at > 0 && code[at - 1] != '\n')) continue;
    size_t end = std::min(code.find('\n', at), code.size());
    while (end < code.size() && code[end - 1] == '\\') end = std::min(code.find('\n', end + 1), code.size());
    const Node command = read_shell(code.substr(at + 1, end - at - 1)).root;
    constexpr std::pair<const char*, const char*> said[] = {{"num_processes", "$launched"},
                                                            {"nproc_per_node", "$launched"},
                                                            {"num_gpus", "$launched"},
                                                            {"config_file", "$launched_by"},
                                                            {"deepspeed_config", "$launched_by"}};
    for (const auto& [flag, key] : said) {
      const Node* value = command.find(flag);
      if (value == nullptr || !value->is_scalar() || python.find(key) != nullptr) continue;
      // Without a place: nothing is written back into a command.
      python.members.push_back({key, {}, scalar_node(value->value, value->raw, false, {})});
    }
  }
}

// Colab's runtime: {"accelerator": "GPU", "colab": {"gpuType": "T4"}}.
std::string card_of_runtime(const Json& metadata) {
  const Json &kind = at(metadata, "accelerator"), &card = at(at(metadata, "colab"), "gpuType");
  return kind == Json("GPU") && card.is_string() ? card.get<std::string>() : "";
}

bool sets_something(const Node& python) {
  return axolotl_call(python) != nullptr || !python_sections(python).members.empty();
}

}  // namespace

bool is_notebook(std::string_view text) {
  return text.find("\"nbformat\"") != std::string_view::npos &&
         text.find("\"cell_type\"") != std::string_view::npos;
}

Document read_cells(std::string code) {
  Document document = read_python(code);
  const bool sets = document.errors.empty() && sets_something(document.root);
  if (sets) add_launcher(code, document.root);
  if (document.errors.empty() && !sets) {
    if (std::string command = command_in(code); !command.empty()) {
      document = read_shell(command);
      code = std::move(command);
    }
  }
  document.code = std::move(code);
  return document;
}

Document read_notebook(std::string_view text) {
  Document document;
  document.language = Language::json;
  const auto notebook = json::parse(text, document.errors);
  if (!notebook || !document.errors.empty()) return document;
  std::string code;
  add_cells(*notebook, add_source, code);
  document = read_cells(std::move(code));
  if (document.card.empty()) document.card = card_of_runtime(at(*notebook, "metadata"));
  return document;
}

std::string files_written_in(std::string_view text) {
  json::Errors errors;
  const auto notebook = json::parse(text, errors);
  std::string files;
  if (!notebook || !errors.empty()) return files;
  add_cells(
      *notebook,
      [](const Json& cell, std::string& all) {
        std::string code;
        add_source(cell, code);
        const size_t line = std::min(code.find('\n'), code.size());
        const std::string_view first = ascii::trim(std::string_view(code).substr(0, line));
        const bool data = first.ends_with(".yaml") || first.ends_with(".yml") || first.ends_with(".json");
        if (first.starts_with("%%writefile ") && data)
          all += "A cell writes a file\n" + code.substr(line) + "\n";
      },
      files);
  return files;
}

std::string notebook_outputs(std::string_view text) {
  json::Errors errors;
  const auto notebook = json::parse(text, errors);
  std::string printed;
  if (notebook && errors.empty()) add_cells(*notebook, add_outputs, printed);
  return printed;
}

}  // namespace plimsoll::exchange
