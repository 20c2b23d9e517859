// Calls: of the script's own functions and classes, which run, and of others, which become members.
#include <algorithm>
#include <utility>

#include "core/exchange/python/interpreter.h"

namespace plimsoll::exchange::python {

namespace {

constexpr size_t most_rest = 50;  // arguments behind a star

bool is_class_name(const std::string& name) {
  const std::string last = last_of(name);
  return !last.empty() && last[0] >= 'A' && last[0] <= 'Z' &&
         name.find_first_of(" ()[]\"'") == std::string::npos;
}

}  // namespace

// The name that a call is known by: trainer_class = SFTTrainer, or "as" in an import, may have given it another.
std::string Interpreter::callee(const Expression& e, Scope& scope) {
  const std::string name = dotted(e);
  const std::string root = name.substr(0, name.find('.'));
  for (const Scope* in = &scope; in != nullptr; in = in->outer) {
    const auto found = in->names.find(root);
    if (found == in->names.end()) continue;
    const Value& value = found->second;
    if (value.object == nullptr && value.node.opaque && is_class_name(value.node.raw))
      return value.node.raw + name.substr(root.size());
    return name;
  }
  return name;
}

Object* Interpreter::arguments(const Expression& e, Scope& scope) {
  Object* given = objects_.make(Object::Kind::call, e.inner);
  size_t position = 0;
  for (const Argument& argument : e.arguments) {
    if (given->entries.size() >= most_parts) break;
    const Value value = evaluate(argument.value, scope);
    if (argument.stars == 2 && is(value, Object::Kind::map)) {
      steps_ += value.object->entries.size();
      for (const Entry& entry : value.object->entries) {
        if (find(*given, entry.key) == nullptr) set(*given, entry);
      }
    } else if (argument.stars == 2 && value.object == nullptr && value.node.opaque) {
      set(*given, {"**", argument.value.span, value});  // of a file that is not here
    } else if (argument.stars == 1 && is(value, Object::Kind::list)) {
      for (const Value& item : value.object->items)
        set(*given, {std::to_string(position++), item.node.span, item});
    } else if (argument.stars == 0) {
      const bool named = !argument.name.empty();
      set(*given, {named ? argument.name : std::to_string(position++),
                   named ? argument.span : argument.value.span, value});
    }
  }
  return given;
}

Value Interpreter::call(const Expression& e, Scope& scope) {
  const Expression& function = e.parts[0];
  const bool is_attribute = function.kind == Expression::Kind::attribute;
  if (is_attribute && function.parts[0].kind == Expression::Kind::call &&
      dotted(function.parts[0].parts[0]) == "super")
    return super_call(e, scope);
  const Value owner = is_attribute ? evaluate(function.parts[0], scope) : Value();
  Value called;
  if (is_attribute) {
    const auto found = owner.object == nullptr || is(owner, Object::Kind::map)
                           ? std::nullopt
                           : attribute_of(owner, function.word);
    if (found) called = *found;
  } else {
    called = evaluate(function, scope);
  }
  Object* given = arguments(e, scope);
  // train.remote(...), main.main(...): other ways to call a function.
  if (is_attribute && is(owner, Object::Kind::function)) called = owner;
  if (is(called, Object::Kind::function)) return call_function(called, *given);
  if (is(called, Object::Kind::type)) return make_instance(called, given, e);
  if (is_attribute) {
    if (const auto result = method(owner, function.word, *given, e)) return *result;
  }
  const std::string name = callee(function, scope);
  given->name = name;
  given->from = made_by(owner);
  if (const auto result = known(name, e, given)) return *result;
  if (const auto result = parsed(name, *given, owner)) return *result;
  return foreign(name, e, given);
}

// A call of code that is not here; a function that it is handed is called by it.
Value Interpreter::foreign(const std::string& name, const Expression& e, Object* given) {
  Value made;
  made.node.span = e.span;
  made.object = given;
  hand_over(*given);
  if (name.empty() || quiet_ || document_.root.members.size() > most_members) return made;
  document_.root.members.push_back({name, e.parts.empty() ? e.span : e.parts[0].span, written({{}, given})});
  given->member = document_.root.members.size();
  const Span place = document_.root.members.back().key_span;
  if (!unnamed_runs_) places_.insert(place.at);
  document_.root.members.back().value.unnamed = places_.count(place.at) == 0;
  if (name_ends_with(name, "Trainer") || last_of(name) == "backward") {
    trains_ = true;
    tell_card();
  }
  return made;
}

// The card of the function that trains, or of the one that called it: "L40S" is one. modal.gpu.A100(size="80GB",
// count=2) is "A100-80GB:2".
void Interpreter::tell_card() {
  for (size_t i = frames_.size(); i > 0 && document_.card.empty(); --i) {
    const Frame& frame = frames_[i - 1];
    auto found = cards_.find(frame.statement);
    if (found == cards_.end() && frame.type != nullptr) found = cards_.find(frame.type->statement);
    if (found == cards_.end()) continue;
    const Value& card = found->second;
    std::string name, count = "1";
    if (is_text(card)) name = card.node.raw;
    if (is(card, Object::Kind::call) && card.object->name.find("gpu.") != std::string::npos) {
      name = last_of(card.object->name);
      const Value *size = argument(*card.object, "size"), *several = argument(*card.object, "count");
      if (size != nullptr) name += is_text(*size) ? "-" + size->node.raw : "?";
      if (several != nullptr) count = is_known(*several) ? several->node.raw : "?";
    }
    if (name.empty()) return;
    document_.card = name + (name.find(':') == std::string::npos ? ":" + count : "");
  }
}

void Interpreter::hand_over(const Object& given) {
  const auto hand = [this](const Value& value) {
    if (!is(value, Object::Kind::function) || ran_.count(value.object->statement) != 0) return;
    call_function(value, *objects_.make(Object::Kind::map));
  };
  const std::vector<Entry> entries = given.entries;  // what runs may change them
  for (const Entry& entry : entries) {
    hand(entry.value);
    if (!is(entry.value, Object::Kind::list)) continue;
    for (const Value& item : std::vector<Value>(entry.value.object->items)) hand(item);
  }
}

void Interpreter::bind(const std::vector<Argument>& parameters, const Object& given, const Object& function,
                       Scope& scope) {
  size_t position = 0;
  std::vector<std::string> taken;
  for (size_t i = 0; i < std::min(parameters.size(), most_parameters); ++i) {
    const Argument& parameter = parameters[i];
    if (i == 0 && function.self.object != nullptr) {
      scope.names[parameter.name] = function.self;
      continue;
    }
    if (parameter.stars == 2) {
      Object* rest = objects_.make(Object::Kind::map, given.span);
      for (const Entry& entry : given.entries) {
        const bool named = !is_position(entry.key);
        if (named && std::find(taken.begin(), taken.end(), entry.key) == taken.end()) set(*rest, entry);
      }
      scope.names[parameter.name] = Value{{}, rest};
      continue;
    }
    if (parameter.stars == 1) {
      std::vector<Value> rest;
      while (const Value* value =
                 rest.size() < most_rest ? argument(given, std::to_string(position++)) : nullptr)
        rest.push_back(*value);
      scope.names[parameter.name] = list_of(std::move(rest), given.span);
      continue;
    }
    taken.push_back(parameter.name);
    const Entry* entry = find(given, parameter.name);
    if (entry == nullptr) entry = find(given, std::to_string(position++));
    const bool has_default = parameter.value.span.length > 0;
    Value value = entry != nullptr ? entry->value
                  : has_default    ? evaluate(parameter.value, *function.scope)
                                   : unknown(parameter.name, parameter.span);
    if (entry == nullptr && !has_default)
      value = instance_of(parameter.type, *function.scope).value_or(value);
    // def tokenize(rows, max_seq_length=256): what is said of a length where no call says another.
    if (has_default && value.node.value.is_number_unsigned() && name_ends_with(parameter.name, "seq_length"))
      tell(parameter.name, value.node.span, value);
    scope.names[parameter.name] = std::move(value);
  }
}

Value Interpreter::call_function(const Value& called, const Object& given) {
  Object& function = *called.object;
  // A function that walks through data calls itself, and of data nothing is known.
  const auto runs = std::count_if(frames_.begin(), frames_.end(), [&function](const Frame& frame) {
    return frame.statement == function.statement;
  });
  if (function.statement != nullptr && (++ran_[function.statement] > most_calls || runs > 1))
    return unknown("", {});
  if (depth_ + 10 >= deepest_run || steps_ > most_steps) return unknown("", {});
  depth_ += 5;
  Scope& scope = *objects_.make_scope(function.scope);
  Value result;
  if (function.lambda != nullptr) {
    bind(function.lambda->arguments, given, function, scope);
    result = evaluate(function.lambda->parts[0], scope);
  } else {
    bind(function.statement->arguments, given, function, scope);
    frames_.push_back({unknown("", {}), false, function.self, function.type, function.statement});
    // A block of the caller that may not run says nothing of the names in here.
    const int unsure = std::exchange(unsure_, 0);
    auto* assigned = std::exchange(assigned_, nullptr);
    const auto* settled = std::exchange(settled_, nullptr);
    const bool guessed = guessed_;
    run(function.statement->body, scope);
    unsure_ = unsure;
    assigned_ = assigned;
    settled_ = settled;
    guessed_ = guessed;
    result = frames_.back().result;
    frames_.pop_back();
  }
  depth_ -= 5;
  function.result = result.object;
  return result;
}

// def main(config: Config), which somebody else's code calls: one of the class as it stands.
std::optional<Value> Interpreter::instance_of(const std::string& type, Scope& scope) {
  for (const Scope* in = &scope; in != nullptr && !type.empty(); in = in->outer) {
    const auto found = in->names.find(type);
    if (found == in->names.end()) continue;
    if (!is(found->second, Object::Kind::type)) return std::nullopt;
    return make_instance(found->second, objects_.make(Object::Kind::call), Expression());
  }
  return std::nullopt;
}

Value Interpreter::define_type(const Statement& made, Scope& scope) {
  Object* type = objects_.make(Object::Kind::type, made.span);
  type->name = made.word;
  type->statement = &made;
  type->scope = &scope;
  for (const Argument& base : made.arguments) {
    if (base.name.empty()) type->bases.push_back(evaluate(base.value, scope));
  }
  types_.push_back(type);
  Scope& inner = *objects_.make_scope(&scope);
  run(made.body, inner);
  for (const Statement& field : made.body) {
    const std::string name = field.kind == Statement::Kind::assign ? field.targets[0].word : field.word;
    const auto found = inner.names.find(name);
    if (found == inner.names.end()) continue;
    if (is(found->second, Object::Kind::function)) found->second.object->type = type;
    set(*type, {name, field.span, found->second});
  }
  return {unknown(type->name, made.span).node, type};
}

// What the class and those it stands on say of each instance.
void Interpreter::fill_fields(const Object& type, Object& instance) {
  steps_ += 1 + type.entries.size();  // of classes that stand twice on one another the ways double
  if (steps_ > most_steps) return;
  for (const Value& base : type.bases) {
    if (is(base, Object::Kind::type) && depth_ < deepest_run) {
      ++depth_;
      fill_fields(*base.object, instance);
      --depth_;
    }
  }
  for (const Entry& entry : type.entries) {
    if (!is(entry.value, Object::Kind::function) && !is(entry.value, Object::Kind::type))
      set(instance, entry);
  }
}

// Of a class without __init__, the fields that its body names are what it is given, in their order. Of one that
// stands on a class that is not here, an instance is a call of that class too.
Value Interpreter::make_instance(const Value& called, Object* given, const Expression& e) {
  Object& type = *called.object;
  Value made;
  made.node.span = e.span;
  made.object = objects_.make(Object::Kind::instance, e.span);
  made.object->type = &type;
  if (instances_.size() < 1000) instances_.push_back(made.object);
  fill_fields(type, *made.object);
  const auto base = std::find_if(type.bases.begin(), type.bases.end(), [](const Value& one) {
    return one.object == nullptr && is_class_name(one.node.raw);
  });
  const bool foreign_base = base != type.bases.end() && e.kind == Expression::Kind::call;
  if (foreign_base && name_ends_with(base->node.raw, "Trainer"))
    document_.root.members.push_back({"$own", e.span, scalar_node(type.name, type.name, true, {})});
  const auto begin = member_of_type(type, "__init__", made);
  if (begin) {
    call_function(*begin, *given);
    return made;
  }
  const Block& body = type.statement->body;
  steps_ += body.size();
  size_t position = 0;
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i].kind != Statement::Kind::assign) continue;
    if (const Value* value = argument(*given, std::to_string(position++)))
      set(*made.object, {body[i].targets[0].word, {}, *value});
  }
  for (const Entry& entry : given->entries) {
    if (!is_position(entry.key)) set(*made.object, entry);
  }
  hand_over(*given);
  if (!foreign_base) return made;
  Object* call = objects_.make(Object::Kind::call, e.inner);
  call->name = base->node.raw;
  call->entries = made.object->entries;
  for (const Entry& entry : given->entries) {
    if (is_position(entry.key)) set(*call, entry);
  }
  foreign(call->name, e, call);
  made.object->member = call->member;
  return made;
}

// super().__init__(...): the class below, or a call of one that is not here.
Value Interpreter::super_call(const Expression& e, Scope& scope) {
  const std::string& word = e.parts[0].word;
  Object* given = arguments(e, scope);
  if (frames_.empty() || frames_.back().type == nullptr) return opaque(e);
  const Frame frame = frames_.back();
  for (const Value& base : frame.type->bases) {
    if (is(base, Object::Kind::type)) {
      const auto found = member_of_type(*base.object, word, frame.self);
      if (found && is(*found, Object::Kind::function)) return call_function(*found, *given);
    } else if (word == "__init__" && base.object == nullptr && is_class_name(base.node.raw)) {
      given->name = base.node.raw;
      if (frame.self.object != nullptr) {
        for (const Entry& entry : given->entries) {
          if (find(*frame.self.object, entry.key) == nullptr) set(*frame.self.object, entry);
        }
      }
      return foreign(given->name, e, given);
    }
  }
  return opaque(e);
}

}  // namespace plimsoll::exchange::python
