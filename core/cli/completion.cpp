#include "core/cli/completion.h"

#include <algorithm>
#include <vector>

#include "core/cli/answer.h"
#include "core/cli/typed.h"
#include "core/cli/values.h"
#include "core/cli/wishes.h"
#include "core/json/at.h"
#include "core/recipe/recipe.h"
#include "core/report/exchange.h"

namespace plimsoll::cli {

namespace {

using json::at;
using json::Json;
using Words = std::vector<std::string>;

std::string joined(const Words& words, const char* between = " ") {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : between) + word;
  return out;
}

Words model_names() {
  Words names;
  for (const run::ModelEntry& model : catalog().models) names.push_back(model.preset.id);
  return names;
}

Words values_of_field(const std::string& pointer) {
  Words values;
  if (pointer == "/model") return model_names();
  if (pointer == "/hardware/gpu") {
    for (const hardware::Gpu& gpu : catalog().gpus) values.push_back(gpu.id);
  }
  if (pointer == "/stack") {
    for (const recipe::StackPreset& stack : catalog().stacks) values.push_back(stack.id);
  }
  for (const recipe::FieldInfo& field : recipe::fields()) {
    if (field.pointer == pointer && field.type == "word") values = items_of(field.allowed);
  }
  return values;
}

Words field_names() {
  Words names;
  for (const recipe::FieldInfo& field : recipe::fields()) {
    std::string name = field.pointer.substr(1) + "=";
    std::replace(name.begin(), name.end(), '/', '.');
    names.push_back(name);
  }
  return names;
}

// The formats, as the refusal of one that does not exist names them.
Words formats() {
  const Json answer = parsed(report::export_text(R"({"model": "gpt2"})", "?", catalog(), ""));
  const Json& errors = at(answer, "errors");
  return errors.is_array() && !errors.empty() ? items_of(text(at(errors[0], "allowed"))) : Words();
}

bool takes_value(const CLI::Option& option) { return option.get_expected_max() != 0; }

Words values_of(const CLI::Option& option) {
  const std::string name = option.get_name(false, false);
  if (name == "--set") return field_names();
  if (name == "--as") return formats();
  for (const Flag& flag : flags()) {
    if (name == flag.name) return values_of_field(flag.pointer);
  }
  // CLI11 writes the words of a check into the name of the type: "TEXT:{same,fewest}".
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{'), close = type.find('}');
  return open == std::string::npos || close == std::string::npos
             ? Words()
             : items_of(type.substr(open + 1, close - open - 1));
}

// A text without a list of words; numbers and names have words of their own for their type.
bool takes_file(const CLI::Option& option) {
  return option.get_type_name() == "TEXT" && values_of(option).empty();
}

struct Completed {
  const CLI::App* app;
  std::vector<const CLI::Option*> options;
  Words words;         ///< for its argument
  bool files = false;  ///< its argument may be a file
};

std::vector<Completed> commands_of(const CLI::App& app) {
  std::vector<Completed> found;
  for (const CLI::App* one : app.get_subcommands([](const CLI::App*) { return true; })) {
    Completed command{one, {}, {}, false};
    for (const CLI::Option* option : one->get_options()) {
      if (!option->get_positional()) {
        command.options.push_back(option);
        continue;
      }
      command.words = values_of(*option);
      command.files = command.words.empty();
    }
    if (one->get_option_no_throw("--model") != nullptr) command.words = model_names();
    found.push_back(std::move(command));
  }
  return found;
}

// One name a command line can hold; CLI11 gives "-h,--help".
std::string long_name(const CLI::Option& option) { return "--" + option.get_lnames().front(); }

std::string bash(const std::vector<Completed>& commands) {
  Words names;
  std::string values, arguments;
  std::vector<std::string> seen;
  for (const Completed& command : commands) {
    names.push_back(command.app->get_name());
    Words options;
    for (const CLI::Option* option : command.options) {
      options.push_back(long_name(*option));
      if (!takes_value(*option) || std::find(seen.begin(), seen.end(), options.back()) != seen.end())
        continue;
      seen.push_back(options.back());
      const Words words = values_of(*option);
      values += "    " + options.back() + ") ";
      if (options.back() == "--set") values += "compopt -o nospace; ";
      if (!words.empty()) values += "COMPREPLY=($(compgen -W '" + joined(words) + "' -- \"$current\")); ";
      if (takes_file(*option)) values += "COMPREPLY=($(compgen -f -- \"$current\")); ";
      values += "return ;;\n";
    }
    arguments += "    " + names.back() + ") options='" + joined(options) + "' words='" +
                 joined(command.words) + "' ;;\n";
  }
  return "# Completion for bash: source <(plimsoll completion bash)\n"
         "_plimsoll() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} options words\n"
         "  COMPREPLY=()\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    COMPREPLY=($(compgen -W '" +
         joined(names) +
         " --help --version' -- \"$current\"))\n"
         "    return\n"
         "  fi\n"
         "  case $previous in\n" +
         values +
         "  esac\n"
         "  case ${COMP_WORDS[1]} in\n" +
         arguments +
         "  esac\n"
         "  case $current in\n"
         "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$current\")) ;;\n"
         "    *) COMPREPLY=($(compgen -W \"$words\" -- \"$current\") $(compgen -f -- \"$current\")) ;;\n"
         "  esac\n"
         "}\n"
         "complete -o filenames -F _plimsoll plimsoll\n";
}

// Between single quotes of zsh and fish, with what _arguments itself reads kept from it.
std::string quoted(const std::string& text, bool arguments) {
  std::string out;
  for (char c : text) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (arguments && (c == '[' || c == ']' || c == ':' || c == '\\')) out += '\\';
    out += c;
  }
  return out;
}

std::string zsh(const std::vector<Completed>& commands) {
  std::string names, cases;
  for (const Completed& command : commands) {
    const std::string name = command.app->get_name();
    names += "    '" + name + ":" + quoted(command.app->get_description(), false) + "'\n";
    cases += "    " + name + ") _arguments";
    for (const CLI::Option* option : command.options) {
      cases += " \\\n      '" + std::string(long_name(*option) == "--set" ? "*" : "") + long_name(*option) +
               "[" + quoted(option->get_description(), true) + "]";
      if (takes_value(*option)) {
        const Words words = values_of(*option);
        cases += ":value:" + (takes_file(*option) ? "_files" : "(" + joined(words) + ")");
      }
      cases += "'";
    }
    if (!command.words.empty() || command.files) {
      cases += " \\\n      '*:argument:{";
      if (!command.words.empty()) cases += "compadd -- " + joined(command.words) + "; ";
      cases += "_files}'";
    }
    cases += " ;;\n";
  }
  return "#compdef plimsoll\n# Completion for zsh: source <(plimsoll completion zsh)\n_plimsoll() {\n"
         "  local -a commands\n  commands=(\n" +
         names +
         "  )\n"
         "  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
         "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n"
         "  case $command in\n" +
         cases +
         "  esac\n}\n"
         "if [ \"$funcstack[1]\" = _plimsoll ]; then _plimsoll \"$@\"; else compdef _plimsoll plimsoll; fi\n";
}

std::string fish(const std::vector<Completed>& commands) {
  std::string out =
      "# Completion for fish: plimsoll completion fish > ~/.config/fish/completions/plimsoll.fish\n";
  for (const Completed& command : commands) {
    const std::string name = command.app->get_name();
    out += "complete -c plimsoll -f -n __fish_use_subcommand -a " + name + " -d '" +
           quoted(command.app->get_description(), false) + "'\n";
    const std::string within = "complete -c plimsoll -n '__fish_seen_subcommand_from " + name + "'";
    for (const CLI::Option* option : command.options) {
      out += within + " -l " + option->get_lnames().front();
      const Words words = takes_value(*option) ? values_of(*option) : Words();
      if (takes_file(*option)) {
        out += " -r";
      } else if (takes_value(*option)) {
        out += " -x" + (words.empty() ? "" : " -a '" + joined(words) + "'");
      }
      out += " -d '" + quoted(option->get_description(), false) + "'\n";
    }
    if (!command.words.empty()) out += within + " -a '" + joined(command.words) + "'\n";
  }
  return out;
}

}  // namespace

std::string completion(const CLI::App& app, const std::string& shell) {
  const std::vector<Completed> commands = commands_of(app);
  if (shell == "zsh") return zsh(commands);
  return shell == "fish" ? fish(commands) : bash(commands);
}

}  // namespace plimsoll::cli
