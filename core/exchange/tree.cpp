#include "core/exchange/tree.h"

#include <algorithm>

#include "core/exchange/docstring.h"
#include "core/exchange/languages.h"
#include "core/exchange/notebook.h"
#include "core/exchange/scalar.h"
#include "core/exchange/shell/words.h"
#include "core/json/ascii.h"
#include "core/json/utf8.h"

namespace plimsoll::exchange {

namespace {

using ascii::is_word;
using ascii::trim;

using json::Json;

constexpr size_t largest_text = size_t{16} << 20;
constexpr size_t deepest = 200;
constexpr size_t longest_line = size_t{64} << 10;
constexpr size_t largest_yaml = size_t{1} << 20;
constexpr size_t largest_json = size_t{512} << 10;
constexpr int64_t most_members = 2000;  // keys are compared with each other

bool starts(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

// "name = " or "name(" at the beginning of a line; YAML has "name: " there.
// "from transformers import Trainer", at the beginning of a line: no other language has it.
bool imports(std::string_view line) {
  const bool from = starts(line, "from ") && line.find(" import ") != std::string_view::npos;
  return from && line.find_first_of(":=\"'", 0) == std::string_view::npos;
}

bool looks_like_python(std::string_view line) {
  for (std::string_view word : {"from ", "import ", "def ", "class ", "return ", "with ", "@"}) {
    if (starts(line, word)) return true;
  }
  size_t i = 0;
  while (i < line.size() && (is_word(line[i]) || line[i] == '.')) ++i;
  if (i == 0) return false;
  if (i < line.size() && line[i] == '(') return true;
  // "rank: int = 8": YAML has a value behind ": ", and no sign of its own behind a word.
  if (i < line.size() && line[i] == ':' && line.find(" = ", i) != std::string_view::npos) return true;
  while (i < line.size() && line[i] == ' ') ++i;
  return i < line.size() && line[i] == '=' && (i + 1 == line.size() || line[i + 1] != '=');
}

constexpr std::string_view programs[] = {"accelerate",
                                         "torchrun",
                                         "deepspeed",
                                         "python",
                                         "python3",
                                         "swift",
                                         "litgpt",
                                         "megatron",
                                         "trl",
                                         "tune",
                                         "llamafactory-cli",
                                         "axolotl",
                                         "sbatch",
                                         "srun",
                                         "uv",
                                         "autotrain",
                                         "axolotl-train",
                                         "CUDA_",
                                         "NPROC_PER",
                                         "PYTORCH_",
                                         "--",
                                         "\\",
                                         "export ",
                                         "#!/bin",
                                         "$ ",
                                         "nohup",
                                         "OMP_NUM",
                                         "env",
                                         "ray",
                                         "mlx_lm",
                                         "mlx_lm.lora",
                                         "vllm serve"};

// "MAX_PIXELS=1003520 swift rlhf", "HF_HOME=/data \\": a variable of the environment before a command, or
// before another one. Python's constants have nothing behind them.
bool sets_a_variable(std::string_view line) {
  size_t name = 0;
  while (name < line.size() && ((line[name] >= 'A' && line[name] <= 'Z') || line[name] == '_' ||
                                (name > 0 && line[name] >= '0' && line[name] <= '9')))
    ++name;
  if (name < 2 || name >= line.size() || line[name] != '=') return false;
  size_t end = name + 1;
  for (char quote = 0; end < line.size() && (quote != 0 || (line[end] != ' ' && line[end] != '\t')); ++end) {
    const bool mark = line[end] == '"' || line[end] == '\'';
    if (mark && (quote == 0 || quote == line[end])) quote = quote == 0 ? line[end] : '\0';
  }
  const std::string_view behind = trim(line.substr(end));
  return end > name + 1 && !behind.empty() && (is_word(behind[0]) || behind == "\\");
}

// "time python train.py", "docker run image trl sft": words of every language, unless what they start is a program.
bool starts_a_program(std::string_view line) {
  const size_t first = line.find(' ');
  if (first == std::string_view::npos || !shell::starts_another(line.substr(0, first))) return false;
  for (std::string_view rest = line.substr(first + 1); !rest.empty();) {
    const size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const bool program = std::find(std::begin(programs), std::end(programs), word) != std::end(programs);
    if (program || word == "bash" || word.ends_with(".py") || word.ends_with(".sh")) return true;
  }
  return false;
}

bool looks_like_shell(std::string_view line) {
  if (sets_a_variable(line) || starts_a_program(line)) return true;
  for (std::string_view program : programs) {
    if (!starts(line, program)) continue;
    if (!is_word(program.back())) return program != "--" || (line.size() > 2 && is_word(line[2]));
    const std::string_view rest = line.substr(program.size());
    if (program.back() == '_' || starts(program, "OMP") || starts(program, "NPROC")) return true;
    if (rest.empty() || rest[0] == ' ' || rest[0] == '\t') return true;
  }
  return false;
}

std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('.') == std::string_view::npos ? 0 : path.rfind('.') + 1);
}

void add_leaves(const Node& node, const std::string& path, std::vector<Leaf>& out) {
  const bool plain_list =
      node.is_list() && std::all_of(node.items.begin(), node.items.end(),
                                    [](const Node& item) { return item.is_scalar() && !item.opaque; });
  // max_memory is one value: limits by device.
  const bool whole = node.is_map() && (node.members.empty() || last_part(path) == "max_memory");
  if (node.is_scalar() || plain_list || whole) {
    out.push_back({path, &node});
    return;
  }
  if (node.is_list()) {
    for (const Node& item : node.items) add_leaves(item, path + "[]", out);
    return;
  }
  for (const Member& member : node.members) {
    add_leaves(member.value, path.empty() ? member.key : path + "." + member.key, out);
  }
}

class WireReader {
 public:
  explicit WireReader(Document& document) : document_(document) {}

  Node node(const Json& value) {
    Node made;
    if (!value.is_object()) return fail();
    made.span = span(value);
    if (const Json* scalar = member(value, "scalar"); scalar != nullptr && scalar->is_string()) {
      const Json* plain = member(value, "plain");
      return yaml_scalar(scalar->get<std::string>(), plain != nullptr && *plain == true, made.span);
    }
    if (const Json* list = member(value, "list"); list != nullptr && list->is_array()) {
      made.kind = Node::Kind::list;
      for (const Json& item : *list) made.items.push_back(node(item));
      return made;
    }
    const Json* map = member(value, "map");
    if (map == nullptr || !map->is_array()) return fail();
    made.kind = Node::Kind::map;
    for (const Json& entry : *map) {
      const Json* key = entry.is_object() ? member(entry, "key") : nullptr;
      const Json* inner = entry.is_object() ? member(entry, "value") : nullptr;
      if (key == nullptr || !key->is_string() || inner == nullptr) return fail();
      made.members.push_back({key->get<std::string>(), span(entry), node(*inner)});
    }
    return made;
  }

 private:
  static const Json* member(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found == object.end() ? nullptr : &*found;
  }
  static Span span(const Json& object) {
    Span made;
    if (const Json* at = member(object, "at"); at != nullptr && at->is_number_unsigned())
      made.at = at->get<uint64_t>();
    if (const Json* length = member(object, "length"); length != nullptr && length->is_number_unsigned())
      made.length = length->get<uint64_t>();
    return made;
  }
  Node fail() {
    if (document_.errors.empty()) {
      document_.errors.push_back({"not_yaml", "", "The tree of this YAML text has an unknown shape.",
                                  "objects with \"scalar\", \"list\" or \"map\""});
    }
    return {};
  }
  Document& document_;
};

}  // namespace

const Node* Node::find(std::string_view key) const {
  for (const Member& member : members) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

std::vector<Leaf> leaves(const Node& root) {
  std::vector<Leaf> out;
  if (root.is_map() && root.members.empty()) return out;
  add_leaves(root, "", out);
  return out;
}

Node scalar_node(Json value, std::string raw, bool quoted, Span span) {
  Node node;
  node.value = std::move(value);
  node.raw = std::move(raw);
  node.quoted = quoted;
  node.span = span;
  return node;
}

Node yaml_scalar(std::string raw, bool plain, Span span) {
  Json value = plain ? plain_scalar(raw) : Json(raw);
  return scalar_node(std::move(value), std::move(raw), !plain, span);
}

bool is_weight_index(std::string_view text) {
  return text.find("\"weight_map\"") != std::string_view::npos &&
         text.find("\"total_size\"") != std::string_view::npos;
}

bool check_text(std::string_view text, json::Errors& errors) {
  const auto refuse = [&errors](const char* code, const char* message, const char* allowed) {
    errors.push_back({code, "", message, allowed});
    return false;
  };
  if (text.size() > largest_text)
    return refuse("too_large", "This is longer than any settings file.", "at most 16 MiB");
  if (trim(text).empty()) return refuse("empty", "There is nothing here to read.", "a configuration");
  if (text.find('\0') != std::string_view::npos)
    return refuse("not_text", "This holds NUL bytes, so it is not a text.", "text in UTF-8");
  if (!json::is_utf8(text)) return refuse("not_text", "This is not valid UTF-8.", "text in UTF-8");
  if (is_notebook(text))
    return true;  // its strings are program text; the reader of JSON counts levels itself
  size_t depth = 0, line = 0, longest = 0, run = 0;
  for (const char c : text) {
    if (c == '[' || c == '{' || c == '(') ++depth;
    if ((c == ']' || c == '}' || c == ')') && depth > 0) --depth;
    line = c == '\n' ? 0 : line + 1;
    longest = std::max(longest, line);
    // "- - - -" and "? ? ?" nest one level each.
    run = c == '\n' ? 0 : (c == '-' || c == '?') ? run + 1 : (c == ' ' ? run : 0);
    if (depth > deepest || (run > deepest && line == 2 * run - 1)) {
      return refuse("too_large", "The text is nested too deeply to be a configuration.",
                    "at most 200 levels");
    }
  }
  const Language language = language_of(text);
  const auto commas = std::count(text.begin(), text.end(), ',');
  if (language == Language::json && (text.size() > largest_json || commas > most_members) &&
      !is_weight_index(text) && !is_notebook(text)) {
    return refuse("too_large", "This is longer than any settings file.", "at most 512 KiB and 2,000 values");
  }
  if (language == Language::yaml && std::count(text.begin(), text.end(), '\n') > most_members) {
    return refuse("too_large", "This has more lines than any configuration.", "at most 2,000 lines");
  }
  if (language != Language::json && (longest > longest_line || text.size() > largest_yaml)) {
    return refuse("too_large", "A line of this text is longer than in any configuration, or the whole is.",
                  "lines up to 64 KiB, 1 MiB in all");
  }
  return true;
}

Language language_of(std::string_view text) {
  if (starts(text, "\xEF\xBB\xBF")) text.remove_prefix(3);
  text = trim(text.substr(0, largest_text));
  if (text.empty()) return Language::none;
  if (starts(text, "#v=") ||
      ((starts(text, "http://") || starts(text, "https://")) && text.find("#v=") != std::string_view::npos)) {
    return Language::link;
  }
  if (text[0] == '{') {
    // A dict literal of Python has quotes that JSON has not, or True.
    const size_t quote = text.find_first_of("'\"");
    return quote != std::string_view::npos && text[quote] == '\'' ? Language::python : Language::json;
  }
  const std::string_view first = text.substr(0, text.find('\n'));
  if (starts(first, "#!") && (first.find("bash") != std::string_view::npos || trim(first).ends_with("/sh")))
    return Language::shell;
  if (!docstring_of(text).empty()) return Language::python;
  size_t python = 0, shell = 0, yaml = 0, seen = 0, cell = 0;
  bool is_source = false;
  bool goes_on = false;  // whether a command of the shell does, in the next line
  for (std::string_view rest = text; !rest.empty() && seen < 400;) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view whole = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::string_view line = trim(whole.substr(0, 4096));
    if (line.empty()) continue;
    if (starts(line, "#!/bin") || starts(line, "#!/usr/bin/env bash")) ++shell;
    if (line[0] == '#') continue;
    ++seen;
    is_source = is_source || imports(whole);
    if (line[0] == '!' || line[0] == '%') {  // of a notebook
      const bool command = line[0] == '!' && looks_like_shell(trim(line.substr(1)));
      cell += command ? 1 : 0;
      goes_on = command && line.back() == '\\';
      continue;
    }
    const bool part = goes_on;
    goes_on = (part || looks_like_shell(line)) && line.back() == '\\';
    shell += part ? 1 : 0;
    if (part) continue;
    const size_t colon = line.find(": ");
    const bool pair = line.back() == ':' || colon != std::string_view::npos || starts(line, "- ");
    if (looks_like_shell(line)) {
      ++shell;
    } else if (looks_like_python(line)) {
      ++python;
    } else if (pair) {
      ++yaml;
    }
  }
  if (cell > 0 && python == 0 && yaml == 0) return Language::shell;
  if (shell > 0 && shell * 3 >= python && yaml <= shell) return Language::shell;
  return python > yaml || is_source ? Language::python : Language::yaml;
}

namespace {

// A script as the command beside it starts it.
Document read_started(std::string_view text, std::string_view command) {
  if (command.empty() || language_of(command) != Language::shell) return read_python(text);
  const Document started = read_shell(command);
  return read_python(text, started.errors.empty() ? &started.root : nullptr);
}

}  // namespace

Document read_text(std::string_view text, std::string_view command) {
  Document document;
  if (!check_text(text, document.errors)) return document;
  document.language = language_of(text);
  switch (document.language) {
    case Language::json:
      return is_notebook(text) ? read_notebook(text) : read_json(text);
    case Language::python:
      return read_started(text, command);
    case Language::shell:
      return read_shell(text);
    case Language::link:
      return read_link(text);
    case Language::yaml:
    case Language::none:
      break;
  }
  return document;
}

Document from_wire(std::string_view tree) {
  Document document;
  document.language = Language::yaml;
  // A node of the tree takes two levels of JSON, so 64 levels of JSON hold some 20 of YAML.
  const auto value = json::parse(tree, document.errors);
  if (value && document.errors.empty()) document.root = WireReader(document).node(*value);
  return document;
}

}  // namespace plimsoll::exchange
