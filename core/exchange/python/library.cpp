// What is known of code that is not the script's own: Python's functions, paths, flags, what a card can.
#include <algorithm>
#include <cmath>

#include "core/exchange/python/interpreter.h"
#include "core/exchange/scalar.h"

namespace plimsoll::exchange::python {

namespace {

// The hub's cache keeps a model in a folder of its name: ".../models--mistralai--Mistral-7B-v0.3/snapshots".
std::string cached_name(const std::string& path) {
  const std::string_view mark = "models--";
  const size_t at = path.find(mark);
  if (at == std::string::npos) return "";
  std::string name = path.substr(at + mark.size());
  name.resize(std::min(name.find('/'), name.size()));
  const size_t owner = name.find("--");
  return owner == std::string::npos ? "" : name.replace(owner, 2, "/");
}

// os.path.join("a", "b"); nothing where a part is not known, and no earlier one says the model.
std::optional<Value> joined(const Object& given) {
  std::string path;
  for (const Entry& part : given.entries) {
    if (!is_text(part.value) || path.size() > 1000) {
      const std::string name = cached_name(path);
      if (name.empty()) return std::nullopt;
      return Value{scalar_node(name, name, true, given.span)};
    }
    path += (path.empty() || path.back() == '/' ? "" : "/") + part.value.node.raw;
  }
  return Value{scalar_node(path, path, true, given.span)};
}

// field(default=4), Field(4), typer.Option(4): what is inside.
const Value* inner_default(const Object& given) {
  for (const char* key : {"default", "default_factory", "0"}) {
    if (const Value* value = argument(given, key)) return value;
  }
  return nullptr;
}

}  // namespace

// What a call gives, where that is known; nothing of it becomes a member.
std::optional<Value> Interpreter::known(const std::string& name, const Expression& e, Object* given) {
  const std::string last = last_of(name);
  if (is_one_of(last, {"is_bfloat16_supported", "is_bf16_supported", "is_torch_bf16_gpu_available"}) ||
      name == "torch.cuda.is_available")
    return flag(true, e);
  if (name == "torch.backends.mps.is_available") return flag(false, e);
  // What a script asks is answered by a card of the Ampere kind.
  if (last == "get_device_capability") {
    const auto number = [&e](uint64_t n) { return Value{scalar_node(n, std::to_string(n), false, e.span)}; };
    return list_of({number(8), number(0)}, e.span);
  }
  if (is_one_of(last, {"field", "Field", "Option", "Argument"})) {
    const Value* value = inner_default(*given);
    if (value == nullptr) return opaque(e);
    return is(*value, Object::Kind::function) ? call_function(*value, *objects_.make(Object::Kind::map))
                                              : *value;
  }
  if (name_ends_with(name, ".add_argument") || name_ends_with(name, "click.option")) {
    add_flag(*given);
    return opaque(e);
  }
  if (name == "fire.Fire" || name == "Fire") {  // its parameters are the flags
    const Value* started = argument(*given, "0");
    if (started == nullptr || !is(*started, Object::Kind::function) || started->object->statement == nullptr)
      return std::nullopt;
    Object* told = objects_.make(Object::Kind::map);
    for (const Argument& parameter : started->object->statement->arguments)
      if (std::optional<Value> value = from_command(parameter.name)) set(*told, {parameter.name, {}, *value});
    return call_function(*started, *told);
  }
  if (name_ends_with(name, ".set_defaults")) {
    for (const Entry& entry : given->entries) set(*flags_, entry);
    return opaque(e);
  }
  if (auto value = as_map(name, *given)) return value;
  if (auto value = converted(name, *given)) return value;
  if (auto value = counted(name, *given, e)) return value;
  return known_value(name, e, given);
}

std::optional<Value> Interpreter::known_value(const std::string& name, const Expression& e, Object* given) {
  const Value* first = argument(*given, "0");
  const Value* second = argument(*given, "1");
  if (name == "os.path.join") return joined(*given);
  if (name_ends_with(name, "snapshot_download")) {
    const Value* repository = argument(*given, "repo_id");
    if (repository == nullptr) repository = first;
    if (repository != nullptr && is_text(*repository)) return *repository;
  }
  if (is_one_of(name, {"os.getenv", "getenv", "os.environ.get", "environ.get"})) {
    if (second == nullptr) second = argument(*given, "default");
    return second == nullptr ? std::nullopt : std::optional(*second);
  }
  if (name_ends_with(name, "environ.setdefault") && first != nullptr && second != nullptr &&
      is_text(*first)) {
    document_.root.members.push_back({"$" + first->node.raw, first->node.span, written(*second)});
    return opaque(e);
  }
  if (name != "getattr" || first == nullptr || second == nullptr || !is_text(*second)) return std::nullopt;
  // getattr(torch, "float16")
  if (first->node.raw == "torch") {
    const std::string full = "torch." + second->node.raw;
    return Value{scalar_node(full, full, false, e.span)};
  }
  if (const auto found = attribute_of(*first, second->node.raw)) return found;
  if (const auto found = elsewhere("", second->node.raw)) return found;
  const Value* otherwise = argument(*given, "2");
  return otherwise == nullptr ? opaque(e) : *otherwise;
}

// int(x), str(x), list(x): numbers in a text, and whatever is a value already.
std::optional<Value> Interpreter::converted(const std::string& name, const Object& given) {
  const Value* first = argument(given, "0");
  if (first == nullptr) return std::nullopt;
  if (is_one_of(name, {"list", "tuple", "set", "sorted", "reversed"})) {
    auto items = items_of(*first);
    return items ? std::optional(list_of(std::move(*items), given.span)) : std::nullopt;
  }
  if (!is_one_of(name, {"int", "float", "str", "bool", "Path"}) || !is_known(*first) || is_none(*first))
    return std::nullopt;
  const bool to_text = name == "str" || name == "Path";
  if (to_text) return Value{scalar_node(first->node.raw, first->node.raw, true, first->node.span)};
  if (name == "bool") {
    const bool on = truth_of(*first).value_or(false);
    return Value{scalar_node(on, first->node.raw, false, first->node.span)};
  }
  const auto number = first->node.quoted ? meant_number(first->node.raw) : std::optional(first->node.value);
  if (!number || !number->is_number()) return *first;
  const bool cuts = name == "int" && number->is_number_float();
  const double whole = std::floor(number->get<double>());
  if (cuts && whole >= 0 && whole < 9e15)
    return Value{scalar_node(static_cast<uint64_t>(whole), first->node.raw, false, first->node.span)};
  return Value{scalar_node(*number, first->node.raw, false, first->node.span)};
}

// len(x), range(4), enumerate(x, 1), zip(x, y), max(1, n)
std::optional<Value> Interpreter::counted(const std::string& name, const Object& given, const Expression& e) {
  constexpr size_t most = 50;
  const Value* first = argument(given, "0");
  if (first == nullptr) return std::nullopt;
  const auto number = [&e](uint64_t n) { return Value{scalar_node(n, std::to_string(n), false, e.span)}; };
  if (name == "len") {
    // Started without arguments, as its flags are read as their defaults.
    if (first->node.raw == "sys.argv") return number(1);
    if (is_text(*first)) return number(first->node.raw.size());
    if (is(*first, Object::Kind::list)) return number(first->object->items.size());
    if (is(*first, Object::Kind::map)) return number(first->object->entries.size());
    Value made = opaque(e);
    made.object = objects_.make(Object::Kind::call, given.span);
    made.object->name = "len";
    return made;
  }
  if (name == "range" && is_known(*first) && first->node.value.is_number_unsigned() &&
      given.entries.size() == 1) {
    std::vector<Value> items;
    const uint64_t end = first->node.value.get<uint64_t>();
    for (uint64_t i = 0; i < std::min<uint64_t>(end, most); ++i) items.push_back(number(i));
    return list_of(std::move(items), e.span);
  }
  if (name == "enumerate" || name == "zip") {
    const auto items = items_of(*first);
    const Value* second = argument(given, "1");
    const auto others = name == "zip" && second != nullptr ? items_of(*second) : std::nullopt;
    if (!items || (name == "zip" && !others)) return std::nullopt;
    std::vector<Value> pairs;
    for (size_t i = 0; i < std::min({items->size(), others ? others->size() : most, most}); ++i)
      pairs.push_back(others ? list_of({(*items)[i], (*others)[i]}) : list_of({number(i), (*items)[i]}));
    return list_of(std::move(pairs), e.span);
  }
  if (name != "max" && name != "min") return std::nullopt;
  const Value* best = nullptr;
  for (const Entry& entry : given.entries) {
    const Value& value = entry.value;
    if (!is_known(value) || !value.node.value.is_number()) return std::nullopt;
    const bool better = best == nullptr || (value.node.value > best->node.value) == (name == "max");
    if (better) best = &value;
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

// dict(a=1), SimpleNamespace(**settings), vars(args), asdict(config): one map.
std::optional<Value> Interpreter::as_map(const std::string& name, const Object& given) {
  const std::string last = last_of(name);
  const Value* first = argument(given, "0");
  const bool copies = is_one_of(last, {"vars", "asdict", "deepcopy"}) || (last == "copy" && name != last);
  const bool makes = is_one_of(last, {"dict", "SimpleNamespace", "Namespace", "EasyDict", "edict", "AttrDict",
                                      "DotDict", "Munch", "ConfigDict", "Box"}) ||
                     name == "OmegaConf.create";
  if (!copies && !makes) return std::nullopt;
  const bool from = first != nullptr && (is(*first, Object::Kind::map) || is(*first, Object::Kind::instance));
  if ((copies || first != nullptr) && !from) return std::nullopt;
  if (copies && first->object->flags) return *first;
  Value made = map_of(from ? first->object->entries : std::vector<Entry>(), given.span);
  for (const Entry& entry : given.entries) {
    if (entry.key != "0") set(*made.object, entry);
  }
  return made;
}

Value Interpreter::map_of(std::vector<Entry> entries, Span span) {
  steps_ += entries.size();
  Value made;
  made.node.span = span;
  made.object = objects_.make(Object::Kind::map, span);
  made.object->entries = std::move(entries);
  return made;
}

}  // namespace plimsoll::exchange::python
