#include "core/cli/advise.h"

#include "core/cli/exchange.h"
#include "core/cli/values.h"
#include "core/json/at.h"

namespace plimsoll::cli {

namespace {

using json::at;
using json::Json;

}  // namespace

std::string on_gpu(const std::string& request, const std::string& gpu) {
  json::Errors errors;
  auto tree = json::parse(request, errors);
  if (gpu.empty() || !tree || !errors.empty() || !tree->is_object()) return request;
  Json& hardware = (*tree)["hardware"];
  if (hardware.is_null()) hardware = Json::object();
  if (!hardware.is_object()) return request;
  hardware["gpu"] = gpu;
  return json::write(*tree);
}

Asked read_asked(const std::string& text, const std::string& gpu, const report::Catalog& catalog) {
  Asked asked;
  const Json read = import_content(text, catalog);
  const bool own = at(at(read, "format"), "id") == "request" || at(read, "format").is_null();
  if (own) {
    // A whole pasted report may hold the settings in some part of it.
    const std::string inside = parsed(text).is_object() ? "" : request_in(text, catalog);
    asked.request = on_gpu(inside.empty() ? text : inside, gpu);
    return asked;
  }
  asked.errors = at(read, "errors");
  asked.file = text;
  asked.request = on_gpu(json::write(at(read, "request")), gpu);
  return asked;
}

void add_files(Json& advice, const Asked& asked, const report::Catalog& catalog) {
  if (asked.file.empty() || !at(at(advice, "gpu"), "plans").is_array()) return;
  for (Json& plan : advice["gpu"]["plans"]) {
    const Json answer = parsed(patch_content(asked.file, json::write(at(plan, "changes")), catalog));
    if (at(answer, "ok") != Json(true)) continue;
    Json file = Json::object();
    for (const char* key : {"text", "diff", "left_out", "environment"}) file[key] = at(answer, key);
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
