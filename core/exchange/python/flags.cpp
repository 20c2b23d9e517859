// The script's own command line: as the command beside it starts it, or without arguments.
#include <algorithm>

#include "core/exchange/languages.h"
#include "core/exchange/python/interpreter.h"

namespace plimsoll::exchange::python {

Value Interpreter::flags() { return {{}, flags_}; }

namespace {

// "$words", and what a command sets in its environment, are no flags.
bool is_named(const std::string& flag) { return !flag.empty() && flag[0] != '$'; }

std::string without_dashes(std::string flag) {
  flag.erase(0, std::min(flag.find_first_not_of('-'), flag.size()));
  std::replace(flag.begin(), flag.end(), '-', '_');
  return flag;
}

}  // namespace

// What the command gives it; nothing where it does not name it. The command is another text: no place of this
// one can be changed for its sake.
std::optional<Value> Interpreter::from_command(const std::string& name) {
  const Node* told = command_ == nullptr ? nullptr : command_->find(name);
  if (told == nullptr || !is_named(name)) return std::nullopt;
  note_taken(name);
  const auto plain = [](const Node& node) { return Value{scalar_node(node.value, node.raw, false, {})}; };
  if (!told->is_list()) return told->is_scalar() ? std::optional(plain(*told)) : std::nullopt;
  std::vector<Value> items;
  for (const Node& item : told->items) items.push_back(plain(item));
  return list_of(std::move(items));
}

void Interpreter::note_taken(const std::string& flag) {
  if (document_.root.find(taken_flag + flag) == nullptr)
    document_.root.members.push_back({taken_flag + flag, {}, scalar_node(true, "True", false, {})});
}

// parser.add_argument("--batch-size", "-b", type=int, default=4)
void Interpreter::add_flag(const Object& given) {
  std::string name;
  std::optional<Value> told;
  for (const Entry& entry : given.entries) {
    if (!is_position(entry.key) || !is_text(entry.value)) continue;
    const std::string& word = entry.value.node.raw;
    if (name.substr(0, 2) != "--") name = word;
    if (!told && word[0] == '-') told = from_command(without_dashes(word));
  }
  name = without_dashes(name);
  if (const Entry* to = find(given, "dest")) name = to->value.node.raw;
  if (name.empty()) return;
  const Entry* value = find(given, "default");
  const Entry* action = find(given, "action");
  const std::string does = action == nullptr ? "" : action->value.node.raw;
  if (told && does == "store_false") told = Value{scalar_node(false, "False", false, {})};
  if (told) {
    note_taken(name);
    return set(*flags_, {name, {}, *told});
  }
  if (value != nullptr) {
    tell(name, value->key_span, value->value);
    return set(*flags_, {name, value->key_span, value->value});
  }
  if (does != "store_true" && does != "store_false") return;
  const bool on = does == "store_false";
  set(*flags_, {name, {}, {scalar_node(on, on ? "True" : "False", false, {})}});
}

// parser.parse_args(), HfArgumentParser((A, B)).parse_args_into_dataclasses(), tyro.cli(Config)
std::optional<Value> Interpreter::parsed(const std::string& name, const Object& given, const Value& owner) {
  const std::string last = last_of(name);
  if (last == "parse_args" || last == "parse_known_args") {
    if (is(owner, Object::Kind::call) && owner.object->name.find("Argument") == std::string::npos &&
        flags_->entries.empty())
      return std::nullopt;
    return last == "parse_args" ? flags() : list_of({flags(), unknown("", {})});
  }
  std::vector<Value> types;
  bool several = false;
  const auto take = [&](const Object& from) {
    for (const char* key : {"0", "dataclass_types", "config_class"}) {
      const Entry* entry = find(from, key);
      if (entry == nullptr) continue;
      several = true;
      types = is(entry->value, Object::Kind::list) ? entry->value.object->items : std::vector{entry->value};
      return;
    }
  };
  const bool into = is_one_of(last, {"parse_args_into_dataclasses", "parse_args_and_config",
                                     "parse_yaml_file", "parse_json_file", "parse_dict"});
  if (into && is(owner, Object::Kind::call)) take(*owner.object);
  if (name == "tyro.cli" || name == "pyrallis.parse" || name == "simple_parsing.parse") take(given);
  if (types.empty()) return std::nullopt;
  std::vector<Value> made;
  Expression call;
  call.kind = Expression::Kind::call;
  call.span = call.inner = given.span;
  for (const Value& type : types) {
    if (!is(type, Object::Kind::type)) {
      made.push_back(unknown(type.node.raw, {}));
      continue;
    }
    Object* told = objects_.make(Object::Kind::call);
    add_from_command(*type.object, *told);
    made.push_back(make_instance(type, told, call));
  }
  if (!into && several) return made[0];
  return list_of(std::move(made));
}

// Fields of a class of the script that the command names.
void Interpreter::add_from_command(const Object& type, Object& given) {
  if (command_ == nullptr || ++steps_ > most_steps) return;
  for (const Entry& field : type.entries) {
    if (is(field.value, Object::Kind::function) || is(field.value, Object::Kind::type)) continue;
    if (std::optional<Value> told = from_command(field.key)) set(given, {field.key, {}, *told});
  }
  for (const Value& base : type.bases)
    if (is(base, Object::Kind::type)) add_from_command(*base.object, given);
}

// A member of "$flags", by which a setting that came of it is found again.
void Interpreter::note_flag(const std::string& flag, Span span) {
  const bool noted = flag_members_.size() > 500 || document_.root.find(taken_flag + flag) != nullptr ||
                     std::any_of(flag_members_.begin(), flag_members_.end(), [&](const Member& member) {
                       return member.key == flag && member.key_span.at == span.at;
                     });
  if (!noted) flag_members_.push_back({flag, span, scalar_node(flag, flag, true, span)});
}

}  // namespace plimsoll::exchange::python
