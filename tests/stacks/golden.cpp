#include "tests/stacks/golden.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>

#include "core/cli/texts.h"
#include "core/cli/yaml.h"
#include "core/json/writer.h"
#include "core/recipe/fields.h"
#include "core/report/exchange.h"
#include "core/report/refused.h"
#include "core/run/run.h"
#include "tests/scoring.h"

namespace plimsoll::stacks {

namespace {

namespace fs = std::filesystem;
using json::Json;

std::optional<std::string> read_text(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (!stream) return std::nullopt;
  return text;
}

void add_errors(json::Errors& all, const std::string& path, json::Errors some) {
  for (json::Error& error : some) {
    error.message = path + ": " + error.message;
    all.push_back(std::move(error));
  }
}

std::vector<Golden> read_list(const fs::path& path, json::Errors& errors) {
  std::vector<Golden> all;
  const auto rows = scoring::read_file(path.string(), errors);
  if (!rows) return all;
  for (const Json& row : *rows) {
    const auto file = row.at("file").get<std::string>();
    const auto text = read_text(path.parent_path() / file);
    if (!text) {
      errors.push_back({"unreadable_file", "", file + " could not be read.", ""});
      continue;
    }
    Golden golden{file, row.at("stack").get<std::string>(), row.value("version", ""), row};
    golden.content["text"] = *text;
    all.push_back(std::move(golden));
  }
  return all;
}

constexpr const char* stand_in = "llama-3.2-1b";

struct Asked {
  Json request;
  std::string model;              // the name that the text gives
  std::set<std::string> missing;  // pointers that a person is asked for
  Json targets;                   // modules of a model for which another stands in
  std::string problem;
};

// A script with its DeepSpeed file below it is read as the command and the page read it, part by part.
void join_parts(const std::string& text, const run::Catalog& catalog, Asked& asked) {
  const Json read = cli::import_texts({text}, catalog);
  if (!read.contains("request") || !read.at("request").is_object()) return;
  const bool known = asked.request.is_object() && asked.request.contains("model");
  asked.request = read.at("request");
  if (asked.model.empty() && read["request"].contains("model") && read["request"]["model"].is_string())
    asked.model = read["request"]["model"].get<std::string>();
  if (!known) asked.request.erase("model");
  asked.missing.clear();
  for (const Json& one : read.at("missing")) asked.missing.insert(one.at("pointer").get<std::string>());
}

// The request of a configuration; a golden without a model is one of a stack's defaults. One that a person
// labelled ("asked") may name a model that nobody knows: another stands in for it, and so do cards.
Asked ask(const Golden& golden, const run::Catalog& catalog) {
  const Json& c = golden.content;
  Asked asked;
  if (c.contains("request")) {
    asked.request = c.at("request");
  } else {
    const std::string text = text_of(golden);
    const exchange::Import import = report::import_known(cli::read_document(text), text, catalog);
    asked.request = import.request;
    asked.model = import.model;
    for (const run::Missing& one : import.missing) asked.missing.insert(one.pointer);
    for (const json::Error& error : import.errors) {
      if (error.code == "unknown_model" && c.contains("asked")) {
        asked.request.erase("model");
      } else {
        asked.problem += error.pointer + " " + error.message + " ";
      }
    }
  }
  if (c.contains("asked")) join_parts(text_of(golden), catalog, asked);
  if (!asked.request.is_object()) return asked;
  if (!asked.request.contains("model")) {
    asked.request["model"] = stand_in;
    const Json::json_pointer targets("/peft/target_modules");
    if (c.contains("asked") && asked.request.contains(targets)) {
      asked.targets = asked.request[targets];
      asked.request["peft"].erase("target_modules");
    }
  }
  // One card shares no work: while their number is asked for, two stand in.
  if (c.contains("asked") && asked.missing.count("/parallel/num_gpus") != 0 &&
      asked.request.contains("parallel") && asked.request["parallel"].contains("strategy"))
    asked.request["parallel"]["num_gpus"] = 2;
  if (!c.contains("versions")) return asked;
  for (const auto& [library, version] : c.at("versions").items()) {
    const bool known = recipe::find_field("/versions/" + library) != nullptr;
    if (known) asked.request["versions"][library] = version;  // a script may only say how old it is at most
  }
  return asked;
}

// A folder or a hub's name by its last part, as people write either.
std::string last_part(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  while (!name.empty() && name.back() == '/') name.pop_back();
  name = name.substr(name.rfind('/') + 1);
  for (size_t at = name.find("___"); at != std::string::npos; at = name.find("___")) name.replace(at, 3, ".");
  return name;
}

// What a person said must be asked, and the name of the model, where the golden says either.
void compare_asked(const Json& content, const Asked& asked, Comparison& result) {
  if (!content.contains("asked")) return;
  const auto differ = [&](const std::string& pointer, const Json& ours, const Json& theirs) {
    ++result.fields;
    if (ours != theirs) result.differences.push_back({pointer, ours, theirs, ""});
  };
  if (content.at("fields").contains("/model"))
    differ("/model", last_part(asked.model), last_part(content.at("fields").at("/model").get<std::string>()));
  std::set<std::string> expected, allowed;
  for (const Json& one : content.at("asked")) expected.insert(one.get<std::string>());
  if (content.contains("may_ask")) {
    for (const Json& one : content.at("may_ask")) allowed.insert(one.get<std::string>());
  }
  for (const std::string& one : expected) differ("asked " + one, asked.missing.count(one) != 0, true);
  for (const std::string& one : asked.missing) {
    if (expected.count(one) == 0 && allowed.count(one) == 0) differ("asked " + one, true, false);
  }
}

bool equal(const Json& ours, const Json& theirs) {
  if (ours.is_number() && theirs.is_number())
    return std::abs(ours.get<double>() - theirs.get<double>()) <= 1e-9 * std::abs(theirs.get<double>());
  if (ours.is_array() && ours.size() == 1 && theirs.is_string()) return ours[0] == theirs;
  if (ours.is_array() && theirs.is_array()) {
    std::vector<Json> a(ours.begin(), ours.end()), b(theirs.begin(), theirs.end());
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    return a == b;
  }
  return ours == theirs;
}

// A field as it holds for the run; a section is there or not.
Json effective(const std::string& pointer, const run::Run& run) {
  if (pointer == "trainable") return run.replay.parameters.trainable;
  if (pointer == "/peft") return run.resolved.recipe.peft.on;
  // What a library makes of a field once it knows the network is an assumption alone.
  for (const recipe::Assumption& known : run.resolved.assumptions) {
    if (known.pointer == pointer) return known.value;
  }
  const auto found = run.resolved.values.find(pointer);
  if (found != run.resolved.values.end()) return found->second;
  const recipe::Field* field = recipe::find_field(pointer);
  return field == nullptr ? Json() : recipe::fixed_default(*field);
}

}  // namespace

std::string text_of(const Golden& golden) {
  const Json& c = golden.content;
  if (c.contains("config")) return json::write(c.at("config"), true);
  return c.value("text", "");
}

std::vector<Golden> read_goldens(const std::string& path, json::Errors& errors) {
  std::error_code problem;
  if (!fs::is_directory(path, problem)) return read_list(path, errors);
  std::vector<Golden> all;
  for (fs::recursive_directory_iterator entry(path, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    const fs::path file = entry->path();
    if (file.extension() != ".json") continue;
    const fs::path below = fs::relative(file, path);
    // Tiny runs say what was in memory, not fields (runs/runs.cpp).
    if (std::distance(below.begin(), below.end()) < 3 || *below.begin() == "runs") continue;
    json::Errors own;
    auto content = scoring::read_file(file.string(), own);
    add_errors(errors, below.string(), std::move(own));
    if (!content) continue;
    const fs::path release = below.parent_path();
    all.push_back({below.string(), release.parent_path().filename().string(), release.filename().string(),
                   std::move(*content)});
  }
  std::sort(all.begin(), all.end(), [](const Golden& a, const Golden& b) { return a.path < b.path; });
  return all;
}

Comparison compare(const Golden& golden, const run::Catalog& catalog) {
  Comparison result;
  const Asked asked = ask(golden, catalog);
  result.problem = asked.problem;
  const Json& c = golden.content;
  compare_asked(c, asked, result);
  if (!asked.request.is_object() && !c.contains("asked")) return result;
  json::Errors errors;
  const auto run = run::read_run(json::write(asked.request), catalog, errors);
  for (const json::Error& error : errors) result.problem += error.pointer + " " + error.message + " ";
  const Json none = Json::object();
  const Json& reasons = c.contains("differs") ? c.at("differs") : none;
  Json theirs = c.contains("fields") ? c.at("fields") : none;
  theirs.erase("/model");
  if (c.contains("trainable")) theirs["trainable"] = c.at("trainable");
  // What a stack's own code took is refused by none of its libraries, but where it is said why.
  const std::string why = reasons.value("refused", "");
  for (const model::Note& note : run ? report::refused(*run) : std::vector<model::Note>()) {
    if (why.empty()) result.problem += note.message + " ";
  }
  for (const auto& [pointer, value] : theirs.items()) {
    ++result.fields;
    const bool aside = pointer == "/peft/target_modules" && !asked.targets.is_null();
    const Json ours = aside ? asked.targets : run ? effective(pointer, *run) : Json("no run");
    const bool given = reasons.contains(pointer);
    if (!equal(ours, value)) {
      result.differences.push_back(
          {pointer, ours, value, given ? reasons.at(pointer).get<std::string>() : ""});
    } else if (given) {
      result.settled.push_back(pointer);
    }
  }
  return result;
}

}  // namespace plimsoll::stacks
