#include "tests/stacks/golden.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

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

// The request of a configuration; a golden without a model is one of a stack's defaults.
Json request_of(const Golden& golden, const run::Catalog& catalog, std::string& problem) {
  const Json& c = golden.content;
  Json request;
  if (c.contains("request")) {
    request = c.at("request");
  } else {
    const std::string text = text_of(golden);
    const exchange::Import import = report::import_known(cli::read_document(text), text, catalog);
    for (const json::Error& error : import.errors) problem += error.pointer + " " + error.message + " ";
    request = import.request;
  }
  if (!request.is_object()) return request;
  if (!request.contains("model")) request["model"] = "llama-3.2-1b";
  if (!c.contains("versions")) return request;
  for (const auto& [library, version] : c.at("versions").items()) {
    const bool known = recipe::find_field("/versions/" + library) != nullptr;
    if (known && !(request.contains("versions") && request["versions"].contains(library)))
      request["versions"][library] = version;
  }
  return request;
}

bool equal(const Json& ours, const Json& theirs) {
  if (ours.is_number() && theirs.is_number())
    return std::abs(ours.get<double>() - theirs.get<double>()) <= 1e-9 * std::abs(theirs.get<double>());
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
  const Json request = request_of(golden, catalog, result.problem);
  if (!request.is_object()) return result;
  json::Errors errors;
  const auto run = run::read_run(json::write(request), catalog, errors);
  for (const json::Error& error : errors) result.problem += error.pointer + " " + error.message + " ";
  const Json none = Json::object();
  const Json& c = golden.content;
  const Json& reasons = c.contains("differs") ? c.at("differs") : none;
  Json theirs = c.contains("fields") ? c.at("fields") : none;
  if (c.contains("trainable")) theirs["trainable"] = c.at("trainable");
  // What a stack's own code took is refused by none of its libraries, but where it is said why.
  const std::string why = reasons.value("refused", "");
  for (const model::Note& note : run ? report::refused(*run) : std::vector<model::Note>()) {
    if (why.empty()) result.problem += note.message + " ";
  }
  for (const auto& [pointer, value] : theirs.items()) {
    ++result.fields;
    const Json ours = run ? effective(pointer, *run) : Json("no run");
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
