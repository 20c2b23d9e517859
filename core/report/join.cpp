#include "core/report/join.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/exchange/commands.h"
#include "core/exchange/languages.h"
#include "core/json/at.h"
#include "core/json/writer.h"
#include "core/recipe/fields.h"
#include "core/recipe/stacks.h"
#include "core/run/essentials.h"

namespace plimsoll::report {

namespace {

using json::at;
using json::Json;

bool was_read(const Json& import) {
  return at(import, "request").is_object() && at(at(import, "format"), "name").is_string() &&
         at(import, "counts").is_object() && at(import, "keys").is_array() && at(import, "notes").is_array();
}

uint64_t used_in(const Json& import) {
  const Json& used = at(at(import, "counts"), "used");
  return used.is_number_unsigned() ? used.get<uint64_t>() : 0;
}

size_t leader_of(const std::vector<Json>& imports) {
  const auto rank = [](const Json& import) {
    return std::make_pair(!at(at(import, "request"), "model").is_null(), used_in(import));
  };
  size_t best = imports.size();
  for (size_t i = 0; i < imports.size(); ++i) {
    if (was_read(imports[i]) && (best == imports.size() || rank(imports[i]) > rank(imports[best]))) best = i;
  }
  return best;
}

// Keys of a file that the leader, or an earlier one, says otherwise.
void add(Json& under, const Json& more, const std::string& above, std::vector<std::string>& overruled) {
  for (const auto& [key, value] : more.items()) {
    const std::string pointer = above + "/" + key;
    if (!under.contains(key)) {
      under[key] = value;
    } else if (under[key].is_object() && value.is_object()) {
      add(under[key], value, pointer, overruled);
    } else if (under[key] != value) {
      overruled.push_back(pointer);
    }
  }
}

// A script whose settings are all flags of its command still says whose trainer it calls, and for which task.
bool says_nothing(const Json& import) {
  return used_in(import) == 0 && at(at(import, "request"), "stack").is_null();
}

bool is_command(const Json& import) { return at(at(import, "format"), "command") == Json(true); }

// Its flags win over the files that it starts. A file that it names says more than its name.
void overrule(Json& whole, const Json& command) {
  for (const Json& key : at(command, "keys")) {
    const Json &name = at(key, "key"), &pointer = at(key, "pointer");
    if (at(key, "use") != Json("used") || !pointer.is_string() || name == "config_file" ||
        name == "deepspeed")
      continue;
    const auto name_of_field = pointer.get<std::string>();
    if (name_of_field != "/model" && recipe::find_field(name_of_field) == nullptr) continue;
    whole["flags"].push_back(name_of_field);
    const Json::json_pointer place(name_of_field);
    const Json &request = whole["request"], &flags = command["request"];
    if (!request.contains(place) || !flags.contains(place) || request[place] == flags[place]) continue;
    whole["request"][place] = flags[place];
    for (Json& old : whole["keys"]) {
      if (at(old, "pointer") != pointer || at(old, "use") != Json("used")) continue;
      old["use"] = "implied";
      old["message"] = "the command that starts it says otherwise";
    }
  }
}

bool says_more(const Json& stack) {
  return stack.is_string() && !recipe::stack_traits(stack.get_ref<const std::string&>()).plain_trainer;
}

// The default library of a launcher or of bare TrainingArguments says less than a trainer of TRL's.
void take_stack(Json& request, const Json& more) {
  const Json& stack = at(more, "stack");
  if (says_more(stack) && !says_more(at(request, "stack"))) request["stack"] = stack;
}

// A flag that the script beside the command reads is none that nobody knows.
void settle_flags(Json& whole) {
  Json& keys = whole["keys"];
  std::set<std::string> taken;
  for (const Json& key : keys) {
    const Json& name = at(key, "key");
    if (name.is_string() && name.get_ref<const std::string&>().starts_with(exchange::taken_flag))
      taken.insert(name.get<std::string>().substr(exchange::taken_flag.size()));
  }
  for (Json& key : keys) {
    const Json& name = at(key, "key");
    if (at(key, "use") != Json("unknown") || !name.is_string() || taken.count(name.get<std::string>()) == 0)
      continue;
    key["use"] = "implied";
    key["message"] = "read where the script takes this flag";
  }
}

void add_keys(Json& whole, const Json& more, const std::vector<std::string>& overruled) {
  for (Json key : at(more, "keys")) {
    const Json& pointer = at(key, "pointer");
    const bool out = pointer.is_string() && std::find(overruled.begin(), overruled.end(),
                                                      pointer.get<std::string>()) != overruled.end();
    if (out && at(key, "use") == Json("used")) {
      key["use"] = "implied";
      key["message"] = "another of these files says otherwise";
    }
    whole["keys"].push_back(std::move(key));
  }
  for (const Json& note : at(more, "notes")) {
    const Json& notes = whole["notes"];
    const bool here = is_command(more) && note.is_string() &&
                      note.get_ref<const std::string&>().ends_with(exchange::paste_it_too);
    if (!here && std::find(notes.begin(), notes.end(), note) == notes.end()) whole["notes"].push_back(note);
  }
}

void count(Json& whole) {
  for (auto& [use, number] : whole["counts"].items()) {
    const auto of_use = [&use = use](const Json& key) { return at(key, "use") == Json(use); };
    number = std::count_if(whole["keys"].begin(), whole["keys"].end(), of_use);
  }
}

// What stays out is told of: nobody notices that a file had no say.
void tell_left_out(Json& whole, const Json& more, bool other) {
  const auto name = at(at(more, "format"), "name").get<std::string>();
  const Json& model = at(at(more, "request"), "model");
  const std::string whose = model.is_string() ? " of " + model.get<std::string>() : "";
  whole["notes"].push_back(
      "Not read: the settings for " + name + whose +
      (other ? ", which are another run's." : ", because others of that format are read."));
}

Json missing(const Json& request, const run::Catalog& catalog) {
  Json list = Json::array();
  for (const run::Missing& one : run::missing_in(request, catalog))
    list.push_back({{"pointer", one.pointer}, {"message", one.message}});
  return list;
}

}  // namespace

Json joined(const std::vector<Json>& imports, const run::Catalog& catalog) {
  const size_t leads = leader_of(imports);
  if (leads == imports.size()) return imports.empty() ? Json() : imports.front();
  Json whole = imports[leads];
  whole["leads"] = leads;
  Json& request = whole["request"];
  std::vector<std::string> formats = {json::write(at(whole, "format"))};
  auto name = whole["format"]["name"].get<std::string>();
  for (size_t i = 0; i < imports.size(); ++i) {
    const Json& more = imports[i];
    const std::string format = json::write(at(more, "format"));
    const Json& model = at(at(more, "request"), "model");
    const bool other = !model.is_null() && model != at(request, "model");
    if (i == leads || !was_read(more) || says_nothing(more)) continue;
    if (other || std::find(formats.begin(), formats.end(), format) != formats.end()) {
      tell_left_out(whole, more, other);
      continue;
    }
    formats.push_back(format);
    name += " + " + at(at(more, "format"), "name").get<std::string>();
    take_stack(request, more["request"]);
    std::vector<std::string> overruled;
    if (is_command(more) && !is_command(whole)) overrule(whole, more);
    add(request, more["request"], "", overruled);
    add_keys(whole, more, overruled);
  }
  if (formats.size() == 1) return whole;
  settle_flags(whole);
  whole["format"]["name"] = name;
  whole["partial"] = at(request, "model").is_null();
  whole["missing"] = missing(request, catalog);
  count(whole);
  return whole;
}

std::string join_text(std::string_view imports, const run::Catalog& catalog) {
  json::Errors errors;
  const auto list = json::parse(imports, errors);
  if (!list || !list->is_array()) return "null";
  return json::write(joined(list->get<std::vector<Json>>(), catalog));
}

}  // namespace plimsoll::report
