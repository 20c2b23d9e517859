#include "core/cli/texts.h"

#include <algorithm>

#include "core/cli/yaml.h"
#include "core/exchange/docstring.h"
#include "core/exchange/notebook.h"
#include "core/exchange/parts.h"
#include "core/json/at.h"
#include "core/report/exchange.h"
#include "core/report/join.h"

namespace plimsoll::cli {

namespace {

using json::at;
using json::Json;

Json import_part(const std::string& text, const run::Catalog& catalog, const std::string& around = "",
                 const std::string& command = "") {
  json::Errors errors;
  const exchange::Import import = report::import_known(read_document(text, command), text, catalog, around);
  return json::parse(report::write_import(import), errors).value_or(Json::object());
}

void move_keys(Json& import, uint64_t by) {
  for (Json& key : import["keys"]) key["at"] = key["at"].get<uint64_t>() + by;
}

// The settings that a longer text holds; beside a script those in other languages.
std::vector<Json> parts_of(const std::string& text, bool beside_script, const run::Catalog& catalog,
                           std::string* rest = nullptr) {
  constexpr uint64_t fewest_keys = 3;  // one or two may be anybody's, but for those of a marked object
  std::vector<Json> parts;
  for (const std::string_view part : exchange::settings_parts(text)) {
    const std::string_view language = report::language_text(part);
    if (beside_script && language != "yaml" && language != "json") continue;
    Json import = import_part(std::string(part), catalog, text);
    const bool marked = part.starts_with('{') && at(at(import, "format"), "id") != Json("request");
    const uint64_t fewest = marked ? 1 : fewest_keys;
    if (at(import, "ok") != Json(true) || at(at(import, "counts"), "used") < Json(fewest)) continue;
    const auto at_byte = static_cast<size_t>(part.data() - text.data());
    move_keys(import, at_byte);
    if (rest != nullptr) std::fill_n(rest->begin() + static_cast<long>(at_byte), part.size(), '\n');
    parts.push_back(std::move(import));
  }
  return parts;
}

// A text that is one file, with what else stands in it; or the settings in whatever people have saved.
// `command`: that starts it, where it is a script.
std::vector<Json> imports_of(const std::string& text, const run::Catalog& catalog,
                             const std::string& command) {
  Json whole = import_part(text, catalog, "", command);
  const bool listed = at(at(whole, "format"), "id") == Json("versions");
  const bool script = report::language_text(text) == "python" && at(whole, "ok") == Json(true);
  const Json code = at(whole, "errors").empty() ? Json() : at(whole["errors"].front(), "code");
  const bool unread = code == Json("unknown_format") || code == Json("not_yaml") || code == Json("not_json");
  const bool started = report::language_text(text) == "shell" && at(whole, "ok") == Json(true);
  const auto names_model = [](const Json& import) { return !at(at(import, "request"), "model").is_null(); };
  if (!listed && !unread && !script && !started) {
    // YAML takes a command below it for one long key.
    std::vector<Json> parts = names_model(whole) ? std::vector<Json>() : parts_of(text, false, catalog);
    if (std::any_of(parts.begin(), parts.end(), names_model)) return parts;
    return {std::move(whole)};
  }
  if (unread && exchange::is_notebook(text)) {
    std::vector<Json> files = parts_of(exchange::files_written_in(text), false, catalog);
    for (Json& file : files) file["keys"] = Json::array();  // their places are no places of the notebook
    if (!files.empty()) return files;
  }
  if (started) {
    // A command, and below it the file that it names.
    std::string rest = text;
    std::vector<Json> data = parts_of(text, true, catalog, &rest);
    data.insert(data.begin(), data.empty() ? std::move(whole) : import_part(rest, catalog));
    return data;
  }
  if (!script) {
    // A data file and the script behind it in one: the script is what is left.
    std::string rest = text;
    std::vector<Json> data = parts_of(text, true, catalog, &rest);
    if (!data.empty() && report::language_text(rest) == "python") {
      Json left = import_part(rest, catalog, "", command);
      if (names_model(left)) {
        data.insert(data.begin(), std::move(left));
        return data;
      }
    }
  }
  std::vector<Json> parts = parts_of(text, script && !listed, catalog);
  if (parts.empty() || (script && !listed)) parts.insert(parts.begin(), std::move(whole));
  return parts;
}

}  // namespace

Json import_texts(const std::vector<std::string>& texts, const run::Catalog& catalog) {
  std::string script, command;
  std::vector<Json> imports;
  const auto take = [&](const std::string& text) {
    for (Json& one : imports_of(text, catalog, command)) imports.push_back(std::move(one));
  };
  for (const std::string& text : texts) {
    const std::string_view language = report::language_text(text);
    if (language == "shell") command += text + "\n";
    if (language != "python") {
      take(text);
    } else {
      script += text + (texts.size() > 1 ? "\n" : "");
    }
  }
  // Where no command is given, the one that stands at its head.
  if (const std::string_view own = command.empty() ? exchange::started_in(script) : ""; !own.empty()) {
    command = own;
    Json start = import_part(command, catalog, script);
    move_keys(start, static_cast<uint64_t>(own.data() - script.data()));
    if (at(start, "ok") == Json(true)) imports.push_back(std::move(start));
  }
  if (!script.empty()) take(script);
  return imports.size() == 1 ? imports.front() : report::joined(imports, catalog);
}

Json import_content(const std::string& text, const run::Catalog& catalog) {
  return import_part(text, catalog);
}

std::string request_in(const std::string& paste, const run::Catalog& catalog) {
  const std::vector<Json> parts = parts_of(paste, false, catalog);
  const Json request = parts.empty() ? Json() : at(report::joined(parts, catalog), "request");
  return request.is_object() ? json::write(request) : "";
}

}  // namespace plimsoll::cli
