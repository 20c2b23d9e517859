#include "core/cli/exchange.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/cli/input.h"
#include "core/cli/texts.h"
#include "core/cli/yaml.h"
#include "core/json/at.h"
#include "core/json/writer.h"
#include "core/report/exchange.h"
#include "core/report/heading.h"
#include "core/report/patch.h"

namespace plimsoll::cli {

namespace {

using json::at;
using json::Json;

constexpr const char* uses[] = {"used", "implied", "irrelevant", "unsupported", "unknown"};

std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : ""; }

// Most frequent first, then by name.
Json ranked(const std::map<std::string, uint64_t>& counts, size_t most) {
  std::vector<std::pair<std::string, uint64_t>> rows(counts.begin(), counts.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  Json object = Json::object();
  for (size_t i = 0; i < rows.size() && i < most; ++i) object[rows[i].first] = rows[i].second;
  return object;
}

std::string padded(std::string text, size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

void list(std::string& out, const char* title, const Json& counts) {
  if (counts.empty()) return;
  out += std::string("\n") + title + "\n";
  for (const auto& [name, count] : counts.items()) out += "  " + padded(count.dump(), 6) + name + "\n";
}

}  // namespace

std::vector<std::string> files_below(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code problem;
  if (!fs::is_directory(path, problem)) return {path};
  std::vector<std::string> files;
  for (fs::recursive_directory_iterator entry(path, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    const std::string extension = entry->path().extension().string();
    const bool document = extension == ".md" || extension == ".txt";
    if (entry->is_regular_file(problem) && !document) files.push_back(entry->path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string patch_content(const std::string& text, const std::string& changes, const run::Catalog& catalog) {
  const exchange::Document document = read_document(text);
  std::string answer = report::patch_text(document, text, changes, catalog);
  if (document.language != exchange::Language::yaml) return answer;
  json::Errors errors;
  const auto patch = json::parse(answer, errors);
  if (!patch || !patch->contains("text")) return answer;
  // yaml-cpp reads files that are hardly YAML; a line more can make them unreadable.
  const auto patched = patch->at("text").get<std::string>();
  const exchange::Import again = exchange::import_document(read_document(patched), patched);
  if (again.errors.empty() && again.request == patch->at("request")) return answer;
  json::Writer out;
  out.open_object();
  out.field("schema", uint64_t{1});
  out.field("ok", false);
  out.key("errors");
  report::write_errors(out, {exchange::unreadable_with_changes()});
  out.close_object();
  return out.take();
}

Imported import_file(const std::string& path, const run::Catalog& catalog) {
  Imported imported;
  imported.file = path;
  Input input(path);
  const std::string text = input.rest();
  if (!input.problem().empty()) {
    exchange::Import import;
    import.errors.push_back({"unreadable_file", "", input.problem(), "a file that can be read"});
    json::Errors errors;
    imported.answer = json::parse(report::write_import(import), errors).value_or(Json::object());
  } else {
    imported.answer = import_texts({text}, catalog);
  }
  imported.format = text_of(at(at(imported.answer, "format"), "id"));
  return imported;
}

Json summary_of(const std::vector<Imported>& all) {
  uint64_t imported = 0, refused = 0;
  std::map<std::string, uint64_t> counts, formats, reasons, models, unknown, unsupported;
  for (const Imported& one : all) {
    const bool ok = at(one.answer, "ok") == Json(true);
    ++(ok ? imported : refused);
    if (!one.format.empty()) ++formats[one.format];
    bool trains = true;
    for (const Json& error : at(one.answer, "errors")) {
      const std::string code = text_of(at(error, "code"));
      ++reasons[code];
      trains = trains && code != "not_training" && code != "unsupported";
    }
    const Json& request = at(one.answer, "request");
    for (const Json& error : at(one.answer, "errors")) {
      if (at(error, "code") == "unknown_model") ++models[text_of(at(request, "model"))];
    }
    // Of a file that is for something else the keys are nobody's.
    if (!trains) continue;
    for (const Json& key : at(one.answer, "keys")) {
      const std::string use = text_of(at(key, "use"));
      ++counts[use];
      if (use == "unknown") ++unknown[one.format + " " + text_of(at(key, "key"))];
      if (use == "unsupported") ++unsupported[one.format + " " + text_of(at(key, "key"))];
    }
  }
  Json summary = {{"files", all.size()}, {"imported", imported}, {"refused", refused}, {"crashed", 0}};
  for (const char* use : uses) summary[std::string("keys_") + use] = counts[use];
  summary["formats"] = ranked(formats, 100);
  summary["reasons"] = ranked(reasons, 100);
  summary["unknown_models"] = ranked(models, 1000);
  summary["unknown_keys"] = ranked(unknown, 10);
  summary["unsupported_keys"] = ranked(unsupported, 20);
  return summary;
}

std::string summary_table(const Json& summary) {
  std::string out;
  for (const char* row : {"files", "imported", "refused", "crashed"})
    out += padded(row, 20) + at(summary, row).dump() + "\n";
  double keys = 0;
  for (const char* use : uses) keys += at(summary, (std::string("keys_") + use).c_str()).get<double>();
  for (const char* use : uses) {
    const Json& count = at(summary, (std::string("keys_") + use).c_str());
    const auto share = static_cast<uint64_t>(keys == 0 ? 0 : 1000 * count.get<double>() / keys + 0.5);
    out += padded(std::string("keys ") + use, 20) + padded(count.dump(), 8) + std::to_string(share / 10) +
           "." + std::to_string(share % 10) + " %\n";
  }
  list(out, "Formats", at(summary, "formats"));
  list(out, "Refused because", at(summary, "reasons"));
  list(out, "Models without a preset", at(summary, "unknown_models"));
  list(out, "Keys most often unknown", at(summary, "unknown_keys"));
  list(out, "Keys that matter and cannot be said yet", at(summary, "unsupported_keys"));
  return out;
}

std::string not_counted(const Json& import) {
  constexpr size_t most = 12;
  std::string names;
  size_t left_out = 0, shown = 0;
  for (const Json& key : at(import, "keys")) {
    if (at(key, "use") != Json("unsupported") && at(key, "use") != Json("unknown")) continue;
    if (shown == most) {
      ++left_out;
    } else {
      names += (shown++ == 0 ? "" : ", ") + text_of(at(key, "key"));
    }
  }
  if (names.empty()) return "";
  return "Not counted: " + names + (left_out > 0 ? " and " + std::to_string(left_out) + " more" : "") + "\n";
}

std::string import_table(const Json& answer) {
  std::string out;
  const Json& format = at(answer, "format");
  if (format.is_object()) out += "Read as " + text_of(at(format, "name")) + ".\n";
  for (const Json& note : at(answer, "notes")) out += "Note: " + text_of(note) + "\n";
  out += not_counted(answer);
  for (const char* use : {"used", "unsupported", "unknown", "implied", "irrelevant"}) {
    std::string rows;
    for (const Json& key : at(answer, "keys")) {
      if (at(key, "use") != Json(use)) continue;
      rows += "  " + padded(text_of(at(key, "key")), 34);
      const std::string pointer = text_of(at(key, "pointer"));
      const std::string message = text_of(at(key, "message"));
      if (!pointer.empty()) rows += " " + pointer;
      if (!message.empty()) rows += (pointer.empty() ? " " : ": ") + message;
      while (rows.back() == ' ') rows.pop_back();
      rows += "\n";
    }
    if (!rows.empty()) out += std::string("\nKeys ") + use + "\n" + rows;
  }
  std::string asked;
  for (const Json& one : at(answer, "missing"))
    asked += "  " + padded(text_of(at(one, "pointer")), 34) + " " + text_of(at(one, "message")) + "\n";
  if (!asked.empty()) out += "\nNot said, and asked for\n" + asked;
  const Json& request = at(answer, "request");
  if (request.is_object()) out += "\nRequest\n" + json::write(request, true) + "\n";
  return out;
}

}  // namespace plimsoll::cli
