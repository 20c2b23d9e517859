#include "tests/core/exchange/accepted.h"

#include <algorithm>
#include <map>

#include "core/json/embedded_file.h"

namespace plimsoll {
std::span<const PresetFile> accepted_files();  // written by the build
}

namespace plimsoll::exchange {

namespace {

using json::Json;

// The kind of a key, or null.
const Json* kind_of(const Json& classes, const std::string& name, const std::string& key) {
  const Json& own = classes.at(name);
  if (const auto found = own.at("keys").find(key); found != own.at("keys").end()) return &*found;
  for (const Json& base : own.at("bases")) {
    if (const Json* kind = kind_of(classes, base.get<std::string>(), key)) return kind;
  }
  return nullptr;
}

std::string word_refused(const Json& words, const std::string& key, const Json& value) {
  if (value.is_array()) {
    for (const Json& item : value) {
      if (std::string refused = word_refused(words, key, item); !refused.empty()) return refused;
    }
    return "";
  }
  const bool taken =
      !value.is_string() || std::find(words.begin(), words.end(), value) != words.end() || value == "auto";
  return taken ? "" : key + " takes no " + value.get<std::string>();
}

}  // namespace

std::string Accepted::refusal(const std::string& command, const std::string& key, const Json& value) const {
  if (!has(command)) return command + " is no command";
  const Json& classes = list.at("classes");
  Json names = list.at("commands").at(command);
  for (size_t at = 0;;) {
    const size_t dot = key.find('.', at);
    const std::string part = key.substr(at, dot == std::string::npos ? dot : dot - at);
    const Json* kind = nullptr;
    for (const Json& name : names)
      kind = kind != nullptr ? kind : kind_of(classes, name.get<std::string>(), part);
    if (kind == nullptr) return key + " is unknown";
    if (*kind == "map") return "";
    if (dot == std::string::npos) return kind->is_array() ? word_refused(*kind, key, value) : "";
    if (!kind->is_string() || !classes.contains(kind->get<std::string>())) return key + " is unknown";
    names = Json::array({*kind});
    at = dot + 1;
  }
}

const Accepted& accepted(const std::string& name) {
  static const auto all = [] {
    std::map<std::string, Accepted> made;
    for (const PresetFile& file : accepted_files()) {
      json::Errors errors;
      const auto list = json::parse(file.text, errors);
      const std::string key(file.path.substr(0, file.path.rfind(".json")));
      if (list) made[key] = {*list};
    }
    return made;
  }();
  static const Accepted none{{{"commands", Json::object()}, {"classes", Json::object()}}};
  const auto found = all.find(name);
  return found == all.end() ? none : found->second;
}

namespace {

// Which list and command read the keys of a section. "TASK" stands for the request's.
struct Place {
  std::string_view format, section, list, command;
};
constexpr Place places[] = {
    {"axolotl", "", "axolotl-0.19.0", "train"},
    {"llamafactory", "", "llamafactory-0.9.5", "train"},
    {"torchtune", "", "torchtune-main", "recipe"},
    {"trl", "", "trl-1.16", "TASK file"},
    {"accelerate", "", "transformers-5.23", "file"},
    {"peft", "", "transformers-5.23", "adapters"},
    {"hf", "training.", "transformers-5.23", "call"},
    {"hf", "model.", "transformers-5.23", "model"},
    {"hf", "quantization.", "transformers-5.23", "quantization"},
    {"hf", "peft.", "transformers-5.23", "adapters"},
    {"trl-python", "training.", "trl-1.16", "TASK call"},
    {"trl-python", "model.", "transformers-5.23", "model"},
    {"trl-python", "quantization.", "transformers-5.23", "quantization"},
    {"trl-python", "peft.", "transformers-5.23", "adapters"},
    {"unsloth", "training.", "trl-1.9", "TASK call"},
    {"unsloth", "model.", "unsloth-2026.10", "model"},
    {"unsloth", "peft.", "unsloth-2026.10", "adapters"},
};

std::string command_of(std::string_view command, const std::string& task) {
  std::string made(command);
  if (const size_t at = made.find("TASK"); at != std::string::npos) made.replace(at, 4, task);
  return made;
}

}  // namespace

std::optional<Asked> asked_of(std::string_view format, std::string task, const std::string& key) {
  // The first argument, without a name; a call of PEFT's.
  if (key == "model.model_name_or_path" || key == "quantization.prepare_for_kbit_training")
    return std::nullopt;
  if (task.empty()) task = "sft";
  if (task == "simpo" && format != "ms-swift") task = "cpo";  // whose loss it is
  const Format* found = find_format(format);
  const bool variables = found->written == Language::shell || found->written == Language::python;
  if (variables && key[0] == '$') return std::nullopt;
  if (format == "ms-swift") {
    const bool plain = task == "sft" || task == "classification";
    return Asked{"ms-swift-4.6.0", plain ? "sft" : task == "pretrain" ? "pt" : "rlhf", key};
  }
  if (format == "trl" && !accepted("trl-1.16").has(task + " file")) task = "sft";
  for (const Place& place : places) {
    if (place.format != format || key.rfind(place.section, 0) != 0) continue;
    return Asked{std::string(place.list), command_of(place.command, task), key.substr(place.section.size())};
  }
  return std::nullopt;
}

std::vector<std::string> refusals(std::string_view format, const std::string& task,
                                  const std::vector<Entry>& entries) {
  std::vector<std::string> all;
  for (const Entry& entry : entries) {
    const auto asked = asked_of(format, task, entry.key);
    if (!asked) continue;
    const auto ask = [&](const std::string& list) {
      return accepted(list).refusal(asked->command, asked->key, entry.value);
    };
    const std::string refused = ask(asked->list);
    // Unsloth hands on what it does not know.
    const bool handed_on = asked->list.rfind("unsloth", 0) == 0 && ask("transformers-5.23").empty();
    if (!refused.empty() && !handed_on) all.push_back(asked->command + ": " + refused);
  }
  return all;
}

}  // namespace plimsoll::exchange
