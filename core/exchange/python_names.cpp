#include "core/exchange/python_names.h"

#include <algorithm>

namespace plimsoll::exchange {

namespace {

std::string last_of(const std::string& name) { return name.substr(name.rfind('.') + 1); }

// Of a hostile text: what would make the work grow with its square.
constexpr size_t most_calls = 64, most_classes = 256;

// A function and a name in it; no name holds a blank.
std::string in_function(const std::string& function, const std::string& name) {
  return function + " " + name;
}

bool is_plain(const Node* node) { return node != nullptr && !node->opaque; }

const Node* find_in(const std::map<std::string, Node>& map, const std::string& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

}  // namespace

Node plain_default(Node value) {
  if (!value.is_map() || value.call.empty()) return value;
  const std::string name = last_of(value.call);
  if (name != "field" && name != "Field" && name != "Option" && name != "Argument") return value;
  for (const char* key : {"default", "default_factory", "0"}) {
    if (const Node* found = value.find(key)) return *found;
  }
  Node none = scalar_node(nullptr, value.call, false, value.span);
  none.opaque = true;
  return none;
}

void PythonNames::assign(const std::string& function, const std::string& name, Node value) {
  if (!function.empty()) assigned_[in_function(function, name)] = value;
  assigned_[name] = std::move(value);
}

void PythonNames::add_parameter(const std::string& function, const std::string& name, const Node* value) {
  parameters_[function].push_back(
      {name, value == nullptr ? Node() : plain_default(*value), value != nullptr});
}

void PythonNames::add_field(const std::string& type, const std::string& name, Node value) {
  fields_[type][name] = plain_default(std::move(value));
}

void PythonNames::add_flag(const Node& arguments) {
  std::string name;
  for (const Member& member : arguments.members) {
    if (member.key.find_first_not_of("0123456789") != std::string::npos || !member.value.quoted) continue;
    const std::string& word = member.value.raw;
    if (name.empty() || (name[0] != '-' || name[1] != '-')) name = word;
  }
  name.erase(0, name.find_first_not_of('-') == std::string::npos ? name.size() : name.find_first_not_of('-'));
  std::replace(name.begin(), name.end(), '-', '_');
  if (const Node* given = arguments.find("dest")) name = given->raw;
  const Node* value = arguments.find("default");
  const Node* action = arguments.find("action");
  if (name.empty()) return;
  if (value != nullptr) {
    flags_[name] = *value;
  } else if (action != nullptr && (action->raw == "store_true" || action->raw == "store_false")) {
    const bool on = action->raw == "store_false";
    flags_[name] = scalar_node(on, on ? "True" : "False", false, {});
  }
}

void PythonNames::add_call(const std::string& name, const Node& arguments, const PythonNames* before) {
  const std::string function = last_of(name);
  const auto own = [&function](const PythonNames& names) {
    return names.parameters_.count(function) != 0 || names.fields_.count(function) != 0;
  };
  if (!own(*this) && (before == nullptr || !own(*before))) return;
  auto& calls = calls_[function];
  if (calls.size() < most_calls) calls.push_back(arguments);
}

void PythonNames::add_return(const std::string& function, Node value) {
  if (!function.empty()) returns_[function] = std::move(value);
}

const Node* PythonNames::returned(const std::string& function) const {
  return find_in(returns_, last_of(function));
}

const Node* PythonNames::parameter(const std::string& function, const std::string& name,
                                   const PythonNames* before) const {
  const auto found = parameters_.find(function);
  if (found == parameters_.end()) return nullptr;
  const auto& all = found->second;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].name != name) continue;
    for (const PythonNames* names : {this, before}) {
      if (names == nullptr || names->calls_.count(function) == 0) continue;
      for (const Node& call : names->calls_.at(function)) {
        const Node* given = call.find(name);
        if (given == nullptr) given = call.find(std::to_string(i));
        if (is_plain(given) && given->call.empty()) return given;
      }
    }
    return all[i].has_value && !all[i].value.opaque ? &all[i].value : nullptr;
  }
  return nullptr;
}

const Node* PythonNames::field(const std::string& type, const std::string& name) const {
  const auto fields = fields_.find(type);
  if (fields == fields_.end() || fields->second.count(name) == 0) return nullptr;
  const auto calls = calls_.find(type);
  if (calls != calls_.end()) {
    for (const Node& call : calls->second) {
      const Node* given = call.find(name);
      if (is_plain(given)) return given;
    }
  }
  return find_in(fields->second, name);
}

// The class whose call was assigned to a name, or its only one that has such a field.
const std::string& PythonNames::type_of(const std::string& object) const {
  static const std::string none;
  const Node* value = find_in(assigned_, object);
  return value != nullptr && fields_.count(value->call) != 0 ? value->call : none;
}

const Node* PythonNames::attribute(const std::string& name) const {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos) return nullptr;
  const std::string object = name.substr(0, dot), part = name.substr(dot + 1);
  const std::string last = last_of(object);
  if (last == "torch" || last == "os" || last == "np") return nullptr;
  if (fields_.count(last) != 0) return field(last, part);
  if (!type_of(object).empty()) return field(type_of(object), part);
  if (const Node* flag = find_in(flags_, part)) return flag;
  const Node* only = nullptr;
  if (fields_.size() > most_classes) return nullptr;
  for (const auto& [type, fields] : fields_) {
    if (fields.count(part) == 0) continue;
    if (only != nullptr) return nullptr;
    only = field(type, part);
  }
  return only != nullptr || last == "self" ? only : find_in(assigned_, "self." + part);
}

const Node* PythonNames::find(const std::string& function, const std::string& name,
                              const PythonNames* before) const {
  if (!function.empty()) {
    if (const Node* local = find_in(assigned_, in_function(function, name))) return local;
    if (const Node* given = parameter(function, name, before)) return given;
  }
  if (const Node* value = find_in(assigned_, name)) return value;
  return attribute(name);
}

std::string PythonNames::flag_of(const Node* found) const {
  for (const auto& [name, value] : flags_) {
    if (&value == found) return name;
  }
  return "";
}

Node* PythonNames::assigned(const std::string& function, const std::string& name) {
  auto found = assigned_.find(in_function(function, name));
  if (found == assigned_.end()) found = assigned_.find(name);
  return found == assigned_.end() ? nullptr : &found->second;
}

}  // namespace plimsoll::exchange
