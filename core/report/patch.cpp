#include "core/report/patch.h"

#include <algorithm>

#include "core/json/writer.h"
#include "core/recipe/fields.h"
#include "core/report/exchange.h"
#include "core/report/heading.h"

namespace plimsoll::report {

namespace {

using exchange::Change;
using exchange::Patch;
using json::Json;

constexpr size_t most_changes = 200;
constexpr const char* forms =
    R"([{"pointer", "to"}], {"changes": [...]}, {"before": REQUEST, "after": REQUEST}, or a request)";

bool is_section(const std::string& pointer) {
  const std::string below = pointer + "/";
  for (const recipe::Field& field : recipe::field_table()) {
    if (field.pointer.substr(0, below.size()) == below) return true;
  }
  return false;
}

// A change from a value to itself says what a plan relies on; it is written only where the file can say it.
struct Asked {
  std::vector<Change> changes;
  std::vector<std::string> quiet;
};

void read_list(const Json& list, Asked& asked, json::Errors& errors) {
  for (const Json& entry : list) {
    const std::string place = "/" + std::to_string(asked.changes.size());
    const auto pointer = entry.is_object() ? entry.find("pointer") : entry.end();
    if (!entry.is_object() || pointer == entry.end() || !pointer->is_string()) {
      errors.push_back({"wrong_type", place, "A change names a field and what it is to be.", forms});
      return;
    }
    const std::string name = pointer->get<std::string>();
    if (name != "/model" && recipe::find_field(name) == nullptr && !is_section(name)) {
      errors.push_back(
          {"unknown_key", place + "/pointer", "\"" + name + "\" is no field of a request.", "its pointer"});
      return;
    }
    const auto to = entry.find("to"), from = entry.find("from");
    asked.changes.push_back({name, to == entry.end() ? Json() : *to});
    if (from != entry.end() && to != entry.end() && *from == *to) asked.quiet.push_back(name);
    if (asked.changes.size() > most_changes) {
      errors.push_back({"too_large", "", "These are more changes than a plan has.", "at most 200"});
      return;
    }
  }
}

Asked read_changes(std::string_view text, const Json& own, json::Errors& errors) {
  Asked asked;
  const auto tree = json::parse(text, errors);
  if (!tree || !errors.empty()) return asked;
  if (tree->is_array()) {
    read_list(*tree, asked, errors);
  } else if (tree->is_object() && tree->contains("changes")) {
    const Json& list = (*tree)["changes"];
    if (list.is_array()) {
      read_list(list, asked, errors);
    } else {
      errors.push_back({"wrong_type", "/changes", "The changes are a list.", forms});
    }
  } else if (tree->is_object() && tree->contains("before") && tree->contains("after")) {
    asked.changes = exchange::changes_between((*tree)["before"], (*tree)["after"]);
  } else if (tree->is_object()) {
    (void)recipe::read_request(*tree, errors);
    asked.changes = exchange::changes_between(own, *tree);
  } else {
    errors.push_back({"wrong_type", "", "Changes are a list or an object.", forms});
  }
  return asked;
}

std::string answer_of(const Patch& patch, const std::vector<std::string>& quiet) {
  static constexpr std::string_view hows[] = {"replaced", "added", "removed"};
  json::Writer out;
  out.open_object();
  out.field("schema", uint64_t{1});
  out.field("ok", patch.errors.empty());
  if (patch.format != nullptr) {
    out.key("format");
    out.open_object();
    out.field("id", patch.format->id);
    out.field("name", patch.format->name);
    out.close_object();
  }
  if (patch.errors.empty()) {
    out.field("text", patch.text);
    out.field("diff", patch.diff);
    out.key("keys");
    out.open_array();
    for (const Patch::Key& key : patch.keys) {
      out.open_object();
      out.field("pointer", key.pointer);
      out.field("key", key.key);
      out.field("how", hows[static_cast<size_t>(key.how)]);
      out.close_object();
    }
    out.close_array();
    Json environment = Json::object();
    out.key("left_out");
    out.open_array();
    for (const Patch::Left& left : patch.left_out) {
      if (left.pointer == "/hardware/PYTORCH_CUDA_ALLOC_CONF" && left.value.is_string())
        environment["PYTORCH_CUDA_ALLOC_CONF"] = left.value;
      if (std::find(quiet.begin(), quiet.end(), left.pointer) != quiet.end()) continue;
      out.open_object();
      out.field("pointer", left.pointer);
      out.key("value");
      out.value(left.value);
      out.field("why", left.why);
      out.close_object();
    }
    out.close_array();
    out.key("environment");
    out.value(environment);
    out.key("request");
    out.value(patch.request);
  }
  out.key("errors");
  write_errors(out, patch.errors);
  out.close_object();
  return out.take();
}

}  // namespace

std::string patch_text(const exchange::Document& document, std::string_view text, std::string_view changes,
                       const run::Catalog& catalog) {
  const exchange::Import own = import_known(document, text, catalog);
  Patch patch;
  for (const json::Error& error : own.errors) {
    if (error.code != "unknown_model") patch.errors.push_back(error);
  }
  if (!patch.errors.empty()) return answer_of(patch, {});
  const Asked asked = read_changes(changes, own.request, patch.errors);
  if (patch.errors.empty())
    patch = exchange::patch_document(document, exchange::text_of(document, text), asked.changes);
  if (!document.code.empty() && patch.errors.empty()) exchange::put_in_notebook(document, text, patch);
  return answer_of(patch, asked.quiet);
}

std::string patch_text(std::string_view text, std::string_view yaml_tree, std::string_view changes,
                       const run::Catalog& catalog) {
  return patch_text(read_with_tree(text, yaml_tree), text, changes, catalog);
}

}  // namespace plimsoll::report
