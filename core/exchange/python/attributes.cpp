// Attributes and methods of a script's values: dicts, lists, texts, instances of its classes.
#include <algorithm>

#include "core/exchange/python/interpreter.h"
#include "core/json/ascii.h"

namespace plimsoll::exchange::python {

namespace {

// Of a hostile text: what would make the work grow with its square.
constexpr size_t most_types = 256;

Value text_value(std::string text, const Value& from) {
  return {scalar_node(text, text, true, from.node.span)};
}

bool is_property(const Object& function) {
  if (function.statement == nullptr) return false;
  return std::any_of(
      function.statement->decorators.begin(), function.statement->decorators.end(),
      [](const Expression& e) { return last_of(dotted(e)).find("property") != std::string::npos; });
}

std::string stripped(std::string text) {
  text.erase(0, std::min(text.find_first_not_of(" \t\n"), text.size()));
  text.erase(text.find_last_not_of(" \t\n") + 1);
  return text;
}

}  // namespace

// Of an instance its own; else of its class and those below: a method, bound to it.
std::optional<Value> Interpreter::attribute_of(const Value& owner, const std::string& name) {
  if (owner.object == nullptr) {
    const bool of_enum = is_known(owner) && name == "value";
    return of_enum ? std::optional(owner) : std::nullopt;
  }
  if (const Entry* entry = find(*owner.object, name); entry != nullptr && !is(owner, Object::Kind::type))
    return entry->value;
  if (is(owner, Object::Kind::type)) return member_of_type(*owner.object, name, {});
  if (owner.object->type == nullptr) return std::nullopt;
  if (name == "__dict__") return map_of(owner.object->entries, owner.object->span);
  const auto found = member_of_type(*owner.object->type, name, owner);
  if (!found || !is(*found, Object::Kind::function) || !is_property(*found->object)) return found;
  return call_function(*found, *objects_.make(Object::Kind::map));
}

std::optional<Value> Interpreter::member_of_type(Object& type, const std::string& name, const Value& self) {
  if (depth_ >= deepest_run || ++steps_ > most_steps) return std::nullopt;
  const Entry* entry = find(type, name);
  if (entry == nullptr) {
    for (const Value& base : type.bases) {
      if (!is(base, Object::Kind::type)) continue;
      ++depth_;
      auto found = member_of_type(*base.object, name, self);
      --depth_;
      if (found) return found;
    }
    return std::nullopt;
  }
  if (!is(entry->value, Object::Kind::function)) return entry->value;
  Object& function = *entry->value.object;
  const auto& decorators =
      function.statement == nullptr ? std::vector<Expression>() : function.statement->decorators;
  const bool is_static = std::any_of(decorators.begin(), decorators.end(),
                                     [](const Expression& e) { return dotted(e) == "staticmethod"; });
  if (is_static) return entry->value;
  Object* bound = objects_.make(Object::Kind::function, function.span);
  const bool of_class = std::any_of(decorators.begin(), decorators.end(),
                                    [](const Expression& e) { return dotted(e) == "classmethod"; });
  *bound = function;
  bound->self = of_class && self.object == nullptr ? Value{{}, &type} : self;
  return Value{entry->value.node, bound};
}

// An attribute of what is not known: a flag of the command line, or a field that only one class has.
std::optional<Value> Interpreter::elsewhere(const std::string& owner, const std::string& name) {
  const std::string last = last_of(owner);
  if (last == "torch" || last == "os" || last == "np") return std::nullopt;
  if (const Entry* flag = find(*flags_, name)) {
    note_flag(name, flag->value.node.span);
    return flag->value;
  }
  const Object* only = nullptr;
  if (types_.size() > most_types) return std::nullopt;
  for (const Object* type : types_) {
    const Entry* entry = find(*type, name);
    if (entry == nullptr || is(entry->value, Object::Kind::function)) continue;
    if (only != nullptr) return std::nullopt;
    only = type;
  }
  return only == nullptr ? std::nullopt : std::optional(find(*only, name)->value);
}

std::optional<Value> Interpreter::method(const Value& owner, const std::string& name, const Object& given,
                                         const Expression& e) {
  if (is(owner, Object::Kind::map) && !owner.object->flags) return method_of_map(*owner.object, name, given);
  if (is(owner, Object::Kind::list)) return method_of_list(*owner.object, name, given);
  if (is(owner, Object::Kind::instance) && is_one_of(name, {"copy", "dict", "model_dump", "to_dict"}))
    return map_of(owner.object->entries, e.span);
  if (!is_text(owner) || owner.node.raw.size() > 1000) return std::nullopt;
  auto made = method_of_text(owner, name, given);
  if (made && made->object == nullptr && made->node.span.length == 0) made->node.span = e.span;
  return made;
}

std::optional<Value> Interpreter::method_of_map(Object& map, const std::string& name, const Object& given) {
  const Value* first = argument(given, "0");
  const Value* second = argument(given, "1");
  std::vector<Value> items;
  if (name == "get" || name == "pop" || name == "setdefault") {
    if (first == nullptr || !is_known(*first)) return std::nullopt;
    if (const Entry* entry = find(map, first->node.raw)) return entry->value;
    if (name == "setdefault" && second != nullptr) set(map, {first->node.raw, first->node.span, *second});
    if (second == nullptr) second = argument(given, "default");
    return second != nullptr ? *second : Value{scalar_node(nullptr, "None", false, given.span)};
  }
  if (name == "update") {
    const Object& more = first != nullptr && is(*first, Object::Kind::map) ? *first->object : given;
    for (const Entry& entry : more.entries) set(map, entry);
    return unknown("", given.span);
  }
  if (name == "copy") {
    Object* copy = objects_.make(Object::Kind::map, map.span);
    copy->entries = map.entries;
    steps_ += map.entries.size();
    return Value{{}, copy};
  }
  for (const Entry& entry : map.entries) {
    const Value key{scalar_node(entry.key, entry.key, true, entry.key_span)};
    if (name == "keys") items.push_back(key);
    if (name == "values") items.push_back(entry.value);
    if (name == "items") items.push_back(list_of({key, entry.value}));
  }
  if (name == "keys" || name == "values" || name == "items") return list_of(std::move(items), map.span);
  return std::nullopt;
}

std::optional<Value> Interpreter::method_of_list(Object& list, const std::string& name, const Object& given) {
  const Value* first = argument(given, "0");
  if (first == nullptr) return std::nullopt;
  if (name == "append" && list.items.size() < 1000) list.items.push_back(*first);
  if (name == "extend" && is(*first, Object::Kind::list)) {
    for (const Value& item : std::vector<Value>(first->object->items)) {
      if (list.items.size() < 1000) list.items.push_back(item);
    }
  }
  if (name != "append" && name != "extend") return std::nullopt;
  return unknown("", given.span);
}

// "q_proj,v_proj".split(",") and its like.
std::optional<Value> Interpreter::method_of_text(const Value& owner, const std::string& name,
                                                 const Object& given) {
  const std::string& text = owner.node.raw;
  const Value* first = argument(given, "0");
  const Value* second = argument(given, "1");
  if (name == "lower") return text_value(ascii::lower(text), owner);
  if (name == "strip") return text_value(stripped(text), owner);
  if (name == "format" && first != nullptr && is_known(*first)) {
    const size_t at = text.find("{}");
    if (at == std::string::npos || text.find('{', at + 1) != std::string::npos) return std::nullopt;
    return text_value(std::string(text).replace(at, 2, first->node.raw), owner);
  }
  if (name == "join" && first != nullptr && is(*first, Object::Kind::list)) {
    std::string joined;
    for (const Value& item : first->object->items) {
      if (!is_text(item) || joined.size() > 1000) return std::nullopt;
      joined += (joined.empty() ? "" : text) + item.node.raw;
    }
    return text_value(joined, owner);
  }
  if (first == nullptr || !is_text(*first) || first->node.raw.empty()) return std::nullopt;
  const std::string& other = first->node.raw;
  if (name == "startswith" || name == "endswith") {
    const bool at_start = name == "startswith";
    const bool fits = text.size() >= other.size() &&
                      text.compare(at_start ? 0 : text.size() - other.size(), other.size(), other) == 0;
    return Value{scalar_node(fits, fits ? "True" : "False", false, {})};
  }
  if (name == "replace" && second != nullptr && is_text(*second)) {
    std::string made = text;
    for (size_t at = made.find(other); at != std::string::npos && made.size() <= 1000;
         at = made.find(other, at + second->node.raw.size()))
      made.replace(at, other.size(), second->node.raw);
    return text_value(made, owner);
  }
  if (name != "split" && name != "rsplit") return std::nullopt;
  std::vector<Value> pieces;
  for (size_t from = 0; from <= text.size();) {
    const size_t to = std::min(text.find(other, from), text.size());
    pieces.push_back(text_value(stripped(text.substr(from, to - from)), owner));
    from = to + other.size();
  }
  return list_of(std::move(pieces), owner.node.span);
}

std::optional<std::vector<Value>> Interpreter::items_of(const Value& value) {
  if (is(value, Object::Kind::list)) return value.object->items;
  if (!is(value, Object::Kind::map)) return std::nullopt;
  std::vector<Value> keys;
  for (const Entry& entry : value.object->entries)
    keys.push_back({scalar_node(entry.key, entry.key, true, entry.key_span)});
  return keys;
}

}  // namespace plimsoll::exchange::python
