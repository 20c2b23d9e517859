// The script's own command line, as started without arguments.
#include <algorithm>

#include "core/exchange/python/interpreter.h"

namespace plimsoll::exchange::python {

Value Interpreter::flags() { return {{}, flags_}; }

// parser.add_argument("--batch-size", "-b", type=int, default=4)
void Interpreter::add_flag(const Object& given) {
  std::string name;
  for (const Entry& entry : given.entries) {
    if (!is_position(entry.key) || !is_text(entry.value)) continue;
    const std::string& word = entry.value.node.raw;
    if (name.substr(0, 2) != "--") name = word;
  }
  name.erase(0, std::min(name.find_first_not_of('-'), name.size()));
  std::replace(name.begin(), name.end(), '-', '_');
  if (const Entry* to = find(given, "dest")) name = to->value.node.raw;
  if (name.empty()) return;
  const Entry* value = find(given, "default");
  const Entry* action = find(given, "action");
  const std::string does = action == nullptr ? "" : action->value.node.raw;
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
  for (const Value& type : types)
    made.push_back(is(type, Object::Kind::type) ? make_instance(type, objects_.make(Object::Kind::call), call)
                                                : unknown(type.node.raw, {}));
  if (!into && several) return made[0];
  return list_of(std::move(made));
}

// A member of "$flags", by which a setting that came of it is found again.
void Interpreter::note_flag(const std::string& flag, Span span) {
  const bool noted = flag_members_.size() > 500 ||
                     std::any_of(flag_members_.begin(), flag_members_.end(), [&](const Member& member) {
                       return member.key == flag && member.key_span.at == span.at;
                     });
  if (!noted) flag_members_.push_back({flag, span, scalar_node(flag, flag, true, span)});
}

}  // namespace plimsoll::exchange::python
