#include "core/cli/wishes.h"

#include <algorithm>

#include "core/cli/hub_cache.h"
#include "core/cli/input.h"
#include "core/cli/typed.h"
#include "core/cli/values.h"
#include "core/json/ascii.h"
#include "core/json/at.h"
#include "core/json/near.h"
#include "core/recipe/methods.h"
#include "core/run/model_names.h"
#include "core/run/phrases.h"
#include "core/run/usual.h"

namespace plimsoll::cli {

namespace {

using json::at;
using json::Json;

const std::vector<recipe::FieldInfo>& fields() {
  static const std::vector<recipe::FieldInfo> all = [] {
    std::vector<recipe::FieldInfo> rows = recipe::fields();
    rows.push_back({"/model", "text", "", "A preset, a Hugging Face id, or parts of its name."});
    return rows;
  }();
  return all;
}

const recipe::FieldInfo* find(const std::string& pointer) {
  for (const recipe::FieldInfo& field : fields()) {
    if (field.pointer == pointer) return &field;
  }
  return nullptr;
}

std::vector<std::string> keys(std::string_view pointer) {
  std::vector<std::string> found;
  for (std::size_t at = 1; at <= pointer.size();) {
    const std::size_t end = std::min(pointer.find('/', at), pointer.size());
    found.emplace_back(pointer.substr(at, end - at));
    at = end + 1;
  }
  return found;
}

// Null when there is nothing.
const Json& look(const Json& request, std::string_view pointer) {
  const Json* place = &request;
  for (const std::string& key : keys(pointer)) place = &at(*place, key);
  return *place;
}

// Whatever is no object on the way stays, for the core to refuse.
void put(Json& request, std::string_view pointer, Json value) {
  const std::vector<std::string> path = keys(pointer);
  Json* place = &request;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (place->is_null()) *place = Json::object();
    if (!place->is_object()) return;
    place = &(*place)[path[i]];
  }
  *place = std::move(value);
}

// A value from the command line goes before what stands in the request, and that is said.
void change(Changed& changed, const std::string& pointer, const Typed& typed) {
  if (!typed.candidates.empty()) changed.errors.push_back(ambiguous(pointer, typed));
  const Json before = look(changed.request, pointer);
  put(changed.request, pointer, typed.value);
  std::string why = typed.why;
  if (!before.is_null() && before != typed.value)
    why += std::string(why.empty() ? "" : "; ") + "the request says " + words(before);
  if (!why.empty()) changed.said.push_back({pointer, typed.value, why});
}

// A flag or a section as null means: not that.
void leave_out(Changed& changed, const std::string& pointer) {
  if (!look(changed.request, pointer).is_null()) change(changed, pointer, {Json(), "", {}});
}

// `stack`: the one that the run has; null where nobody names one.
void apply_method(Changed& changed, const recipe::Method& method, const recipe::StackPreset* stack) {
  if (!method.adapters) leave_out(changed, "/peft");
  if (method.adapters && !look(changed.request, "/peft").is_object())
    put(changed.request, "/peft", Json::object());
  const recipe::Values fields = recipe::quantization_of(method, stack);
  // What a file says of the same weights stays.
  const bool there = std::any_of(fields.begin(), fields.end(), [&](const auto& field) {
    return field.first.find("/load_in_") != std::string::npos &&
           look(changed.request, field.first) == field.second;
  });
  if (there) return;
  leave_out(changed, "/quantization");
  for (const auto& [pointer, value] : fields) put(changed.request, pointer, value);
}

const recipe::StackPreset* stack_of(const Json& request, const Wishes& wishes, const run::Catalog& catalog) {
  const auto given = wishes.given.find("/stack");
  const bool says = given != wishes.given.end() && !given->second.empty();
  const Json word = says ? typed(*find("/stack"), given->second, catalog).value : look(request, "/stack");
  return catalog.find_stack(text(word));
}

// "training.optim", "/training/optim", "optim" where one field ends so, or parts of it.
std::string pointer_of(const std::string& name, std::string& why) {
  std::string pointer = name[0] == '/' ? name : "/" + name;
  if (name[0] != '/') std::replace(pointer.begin(), pointer.end(), '.', '/');
  if (find(pointer) != nullptr || pointer.find('/', 1) != std::string::npos) return pointer;
  std::string all, last;
  for (const recipe::FieldInfo& field : fields()) {
    if (field.pointer.rfind(pointer + "/", 0) == 0) return pointer;  // a section
    all += (all.empty() ? "" : ", ") + field.pointer;
    const std::string end = field.pointer.substr(field.pointer.rfind('/'));
    if (end == pointer) last = last.empty() ? field.pointer : "several";
  }
  if (last.empty()) {
    const json::Near found = json::near(name, all);
    if (found.by_parts && found.names.find(',') == std::string::npos) last = found.names;
  }
  if (last.empty() || last == "several") return pointer;
  why = "the field that --set " + name + " means";
  return last;
}

void apply_set(Changed& changed, const std::string& text, const run::Catalog& catalog) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) {
    changed.errors.push_back({"missing", "", "--set " + text + " gives no field and value.",
                              "POINTER=VALUE, such as training.packing=true"});
    return;
  }
  std::string why;
  const std::string pointer = pointer_of(text.substr(0, equals), why);
  const recipe::FieldInfo* field = find(pointer);
  const recipe::FieldInfo unknown{pointer, "text", "", ""};
  Typed value = typed(field == nullptr ? unknown : *field, text.substr(equals + 1), catalog);
  if (value.why.empty()) value.why = why;
  change(changed, pointer, value);
  if (field == nullptr && pointer.find('/', 1) == std::string::npos &&
      look(changed.request, pointer).is_string()) {
    std::string names;
    for (const recipe::FieldInfo& row : fields()) {
      names += (names.empty() ? "" : ", ") + row.pointer.substr(row.pointer.rfind('/') + 1);
      names += "\t" + row.pointer;
    }
    changed.errors.push_back({"unknown_key", pointer,
                              "No field of a request is called \"" + pointer.substr(1) + "\"." +
                                  json::did_you_mean(pointer.substr(1), names),
                              "the dotted name of a field, such as training.max_length"});
  }
}

void fill_in(Changed& changed, const run::Catalog& catalog) {
  for (run::Choice& usual : run::usual_choices(changed.request, catalog)) {
    put(changed.request, usual.pointer, usual.value);
    changed.said.push_back(std::move(usual));
  }
}

// What an import says of the same name.
void load_as_stored(Changed& changed) {
  if (changed.request.contains("quantization")) return;
  const Json stored = run::stored_quantization(text(look(changed.request, "/model")));
  if (!stored.is_object()) return;
  for (const auto& [key, value] : stored.items()) {
    const std::string pointer = "/quantization/" + key;
    put(changed.request, pointer, value);
    changed.said.push_back({pointer, value, "the checkpoint is loaded as its name says that it is stored"});
  }
}

// "2x4090" says how many, too.
void apply_cards(Changed& changed, const std::string& text, const run::Catalog& catalog) {
  const std::string gpu = "/hardware/gpu", count = "/parallel/num_gpus";
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::size_t sign = std::min(text.find_first_not_of(' ', digits), text.size());
  const bool counted = digits > 0 && digits <= 4 && sign < text.size() &&
                       std::string_view("xX*").find(text[sign]) != std::string_view::npos;
  if (counted) change(changed, count, typed(*find(count), text.substr(0, digits), catalog));
  const std::string_view name = ascii::trim(std::string_view(text).substr(counted ? sign + 1 : 0));
  change(changed, gpu, typed(*find(gpu), std::string(name), catalog));
}

}  // namespace

json::Error ambiguous(const std::string& pointer, const Typed& typed) {
  std::string names;
  for (const std::string& name : typed.candidates) names += (names.empty() ? "" : ", ") + name;
  return {"ambiguous", pointer, "\"" + words(typed.value) + "\" may mean any of several names.", names};
}

bool any(const Wishes& wishes) {
  const auto some = [](const auto& row) { return !row.second.empty(); };
  const auto on = [](const auto& row) { return row.second; };
  return !wishes.method.empty() || !wishes.set.empty() ||
         std::any_of(wishes.given.begin(), wishes.given.end(), some) ||
         std::any_of(wishes.on.begin(), wishes.on.end(), on);
}

Changed with_wishes(Json request, const Wishes& wishes, bool fresh, const run::Catalog& catalog) {
  Changed changed{std::move(request), {}, {}};
  if (const recipe::Method* method = recipe::find_method(wishes.method))
    apply_method(changed, *method, stack_of(changed.request, wishes, catalog));
  for (const Flag& flag : flags()) {
    const auto given = wishes.given.find(flag.pointer);
    const bool says = given != wishes.given.end() && !given->second.empty();
    if (says && std::string_view(flag.pointer) == "/hardware/gpu")
      apply_cards(changed, given->second, catalog);
    else if (says)
      change(changed, flag.pointer, typed(*find(flag.pointer), given->second, catalog));
    const auto on = wishes.on.find(flag.pointer);
    if (on != wishes.on.end() && on->second) change(changed, flag.pointer, {true, "", {}});
  }
  for (const std::string& one : wishes.set) apply_set(changed, one, catalog);
  if (wishes.method == "full" && look(changed.request, "/peft").is_object()) {
    changed.errors.push_back({"conflict", "/peft",
                              "Full fine-tuning has no adapter, so no rank and no targets.",
                              "--lora or --qlora with a rank, or --full without"});
  }
  if (fresh) {
    load_as_stored(changed);
    fill_in(changed, catalog);
  }
  use_local_config(changed, catalog);
  return changed;
}

void use_local_config(Changed& changed, const run::Catalog& catalog) {
  const std::string model = text(look(changed.request, "/model"));
  if (model.empty() || catalog.find_model(model) != nullptr) return;
  const std::string path = cached_config(model);
  if (path.empty()) return;
  Input input(path);
  json::Errors errors;
  auto config = json::parse(input.rest(), errors);
  if (!config || !errors.empty() || !input.problem().empty()) return;
  changed.request["model"] = {{"config", std::move(*config)}, {"name", model}};
  changed.said.push_back({"/model", model, "from the local Hugging Face cache, " + path});
}

std::vector<std::string> sentences(const AllSaid& said) {
  std::vector<std::string> lines;
  for (const run::Choice& one : said)
    lines.push_back(run::dotted(one.pointer) + " is " + words(one.value) + ": " + one.why);
  return lines;
}

Json as_json(const AllSaid& said) {
  Json list = Json::array();
  for (const run::Choice& one : said)
    list.push_back({{"pointer", one.pointer}, {"value", one.value}, {"why", one.why}});
  return list;
}

}  // namespace plimsoll::cli
