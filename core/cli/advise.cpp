#include "core/cli/advise.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "core/cli/exchange.h"
#include "core/cli/hub_cache.h"
#include "core/cli/input.h"
#include "core/cli/texts.h"
#include "core/cli/values.h"
#include "core/json/ascii.h"
#include "core/json/at.h"

namespace plimsoll::cli {

namespace {

using json::at;
using json::Json;

Json error(const char* code, const std::string& message, const char* allowed) {
  return {{"code", code}, {"pointer", ""}, {"message", message}, {"allowed", allowed}};
}

Json as_json(const json::Errors& errors) {
  Json list = Json::array();
  for (const json::Error& one : errors) {
    list.push_back(
        {{"code", one.code}, {"pointer", one.pointer}, {"message", one.message}, {"allowed", one.allowed}});
  }
  return list;
}

// "llama-3.1-8b" and "org/name" are models; "nowhere.json" and "./run" are files, and may be missing.
bool names_a_model(const std::string& source) {
  std::error_code none;
  if (source.empty() || source == "-" || source[0] == '.' || source[0] == '/' || source[0] == '~')
    return false;
  if (std::filesystem::is_regular_file(source, none)) return false;
  const std::string extension = std::filesystem::path(source).extension().string();
  for (const char* known :
       {".json", ".jsonl", ".yaml", ".yml", ".toml", ".py", ".sh", ".ipynb", ".txt", ".md"}) {
    if (extension == known) return false;
  }
  return source.find_first_of(" \t\n") == std::string::npos;
}

// A request stays as it is, errors and all.
bool is_request(const std::string& text) {
  const std::string_view first = ascii::trim(text).substr(0, 1);
  if (first.empty() || first == "[" || first == "\"") return true;
  json::Errors errors;
  if (first != "{") return false;
  const auto tree = json::parse(text, errors);
  return tree && (!errors.empty() || tree->contains("model"));
}

// Any format that `plimsoll import` reads, and what lies beside it.
void read_text(const std::string& text, Asked& asked, const run::Catalog& catalog,
               const std::vector<std::string>& beside) {
  asked.request = text;
  if (beside.empty() && is_request(text)) return;
  std::vector<std::string> texts = {text};
  texts.insert(texts.end(), beside.begin(), beside.end());
  const Json read = import_texts(texts, catalog);
  if (at(at(read, "format"), "id") == "request" || at(read, "format").is_null()) {
    if (!beside.empty() && at(read, "request").is_object()) asked.request = json::write(at(read, "request"));
    json::Errors errors;
    const bool json = ascii::trim(text).substr(0, 1) == "{" || (json::parse(text, errors) && errors.empty());
    if (beside.empty() && !json)
      asked.errors.push_back(
          error("not_json", "This is neither JSON nor a configuration that is known.",
                "a request, a configuration of a trainer, or a command; plimsoll diagnose FILE "
                "reads questions and error messages"));
    return;
  }
  // An issue with a file in it is no file that could be written back.
  if (at(import_content(text, catalog), "format").is_object()) asked.file = text;
  asked.request = json::write(at(read, "request"));
  if (at(read, "flags").is_array()) asked.flags = at(read, "flags");
  for (const Json& note : at(read, "notes"))
    if (note.is_string()) std::fputs(("Note: " + note.get<std::string>() + "\n").c_str(), stderr);
  if (at(read, "ok") == Json(true)) std::fputs(not_counted(read).c_str(), stderr);
  for (const Json& one : at(read, "errors")) {
    // Flags, and this computer's own copy, may know the model; if not, the core says so again.
    if (at(one, "code") != Json("unknown_model") || !at(read, "request").is_object())
      asked.errors.push_back(one);
  }
}

// What lies beside the file: an accelerate YAML, a DeepSpeed JSON.
std::vector<std::string> beside_of(const Wishes& wishes, Asked& asked) {
  std::vector<std::string> texts;
  for (const std::string& path : wishes.beside) {
    Input input(path);
    texts.push_back(input.rest());
    if (!input.problem().empty())
      asked.errors.push_back(error("unreadable_file", input.problem(), "a file that can be read"));
  }
  return texts;
}

// "./Llama-3.1-8B", as save_pretrained leaves it.
void read_folder(const std::string& config, const std::string& folder, Asked& asked) {
  Input input(config);
  json::Errors errors;
  auto tree = json::parse(input.rest(), errors);
  if (!tree || !errors.empty()) {
    asked.errors = as_json(errors);
    return;
  }
  const std::string name = std::filesystem::absolute(folder).lexically_normal().string();
  asked.request = json::write(Json{{"model", {{"config", std::move(*tree)}, {"name", name}}}});
}

void apply(Asked& asked, const Wishes& wishes, const run::Catalog& catalog) {
  json::Errors errors;
  auto tree = json::parse(asked.request, errors);
  if (!tree || !errors.empty() || !tree->is_object()) return;
  Changed changed = with_wishes(*tree, wishes, asked.fresh, catalog);
  if (!changed.errors.empty()) asked.errors = as_json(changed.errors);
  if (changed.request != *tree) asked.request = json::write(changed.request);
  for (run::Choice& one : changed.said) asked.said.push_back(std::move(one));
}

}  // namespace

Asked with_flags(const Asked& asked, const Wishes& wishes, const run::Catalog& catalog) {
  Asked changed = asked;
  apply(changed, wishes, catalog);
  return changed;
}

// A config.json is a model like any other: nothing has been said of its run.
bool says_a_model_alone(const std::string& request) {
  json::Errors errors;
  const auto tree = json::parse(request, errors);
  return tree && errors.empty() && tree->is_object() && tree->size() == 1 && at(*tree, "model").is_object();
}

// --model config.json
Asked read_model_file(const std::string& path, Wishes wishes, const run::Catalog& catalog) {
  wishes.given.erase("/model");
  return read_asked(path, wishes, catalog);
}

Asked read_asked(const std::string& source, const Wishes& wishes, const run::Catalog& catalog) {
  Asked asked;
  const auto model = wishes.given.find("/model");
  const bool by_flag = source.empty() && model != wishes.given.end() && !model->second.empty();
  if (by_flag && std::filesystem::path(model->second).extension() == ".json")
    return read_model_file(model->second, wishes, catalog);
  const std::string config = source.empty() || source == "-" ? "" : config_in(source);
  if (by_flag) {
    asked.request = "{}";
  } else if (!config.empty()) {
    read_folder(config, source, asked);
  } else if (names_a_model(source)) {
    const Typed named = typed_model(source, catalog);
    asked.request = json::write(Json{{"model", named.value}});
    if (!named.candidates.empty()) asked.errors = as_json({ambiguous("/model", named)});
    if (!named.why.empty()) asked.said.push_back({"/model", named.value, named.why});
    if (!wishes.beside.empty()) read_text(asked.request, asked, catalog, beside_of(wishes, asked));
  } else {
    asked.fresh = false;
    Input input(source.empty() ? "-" : source);
    const std::string text = input.rest();
    if (input.problem().empty()) {
      read_text(text, asked, catalog, beside_of(wishes, asked));
      asked.fresh = says_a_model_alone(asked.request);
    } else {
      asked.errors.push_back(error("unreadable_file", input.problem(),
                                   "a file that can be read, - for standard input, or a model"));
    }
  }
  if (!asked.errors.empty()) return asked;
  apply(asked, wishes, catalog);
  return asked;
}

void add_files(Json& advice, const Asked& asked, const run::Catalog& catalog) {
  if (asked.file.empty() || !at(at(advice, "gpu"), "plans").is_array()) return;
  for (Json& plan : advice["gpu"]["plans"]) {
    Json here = Json::array(), left = Json::array();
    for (const Json& change : at(plan, "changes")) {
      const Json& pointer = at(change, "pointer");
      const bool flag = std::find(asked.flags.begin(), asked.flags.end(), pointer) != asked.flags.end();
      if (!flag) here.push_back(change);
      if (flag)
        left.push_back(
            {{"pointer", pointer}, {"value", at(change, "to")}, {"why", "the command beside it says this"}});
    }
    const Json answer = parsed(patch_content(asked.file, json::write(here), catalog));
    if (at(answer, "ok") != Json(true)) continue;
    Json file = Json::object();
    for (const char* key : {"text", "diff", "left_out", "environment"}) file[key] = at(answer, key);
    for (Json& one : left) file["left_out"].push_back(std::move(one));
    plan["file"] = std::move(file);
  }
}

Json plan_named(const Json& advice, const std::string& reading) {
  for (const Json& plan : at(at(advice, "gpu"), "plans")) {
    for (const Json& name : at(plan, "readings")) {
      if (name == Json(reading)) return plan;
    }
  }
  return Json();
}

std::string not_in_file(const Json& file) {
  std::string out;
  for (const Json& left : at(file, "left_out")) {
    out += "Not in this file: " + words(at(left, "pointer"));
    out += " = " + words(at(left, "value"));
    out += " (" + words(at(left, "why")) + ")\n";
  }
  return out;
}

namespace {

// Of an environment variable the file says nothing, and whoever starts the run is told to set it.
bool lacks(const Json& plan, const Json& change) {
  const Json &file = at(plan, "file"), &pointer = at(change, "pointer");
  if (pointer == "/hardware/PYTORCH_CUDA_ALLOC_CONF") return false;
  const Json& left = at(file, "left_out");
  return std::any_of(left.begin(), left.end(),
                     [&pointer](const Json& one) { return at(one, "pointer") == pointer; });
}

}  // namespace

std::string request_of_file(const std::string& request, const Json& plan) {
  Json made = parsed(request);
  for (const Json& change : at(plan, "changes")) {
    if (lacks(plan, change)) continue;
    const std::string pointer = words(at(change, "pointer"));
    Json* place = &made;
    for (std::size_t from = 1; from <= pointer.size();) {
      const std::size_t end = std::min(pointer.find('/', from), pointer.size());
      if (!place->is_object()) *place = Json::object();
      place = &(*place)[pointer.substr(from, end - from)];
      from = end + 1;
    }
    const bool section = place->is_object() && at(change, "to") == Json(true);
    if (!section) *place = at(change, "to");
  }
  return json::write(made);
}

std::string lacking_words(const Json& plan) {
  std::string lacking, settings;
  for (const Json& change : at(plan, "changes")) {
    if (!lacks(plan, change)) continue;
    const std::string pointer = words(at(change, "pointer")), setting = words(at(change, "setting"));
    if (lacking.find(pointer) != std::string::npos) continue;
    lacking += (lacking.empty() ? "" : ", ") + pointer;
    if (settings.find(setting) == std::string::npos) settings += setting + "\n";
  }
  if (lacking.empty()) return "The printed file does not fit yet.\n";
  return "The printed file does not fit yet: it lacks " + lacking +
         ". The plan holds once the run is told so elsewhere:\n" + settings;
}

std::string plan_diffs(const Json& advice, const Style& style) {
  std::string out;
  for (const Json& plan : at(at(advice, "gpu"), "plans")) {
    if (!at(plan, "file").is_object()) continue;
    std::string names;
    for (const Json& name : at(plan, "readings")) names += (names.empty() ? "" : ", ") + words(name);
    out += coloured("In this file: " + names, "1", style);
    out += "\n" + words(at(at(plan, "file"), "diff"));
    out += not_in_file(at(plan, "file")) + "\n";
  }
  return out;
}

}  // namespace plimsoll::cli
