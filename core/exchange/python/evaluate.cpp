// Expressions, as far as the script itself settles them.
#include <algorithm>

#include "core/exchange/python/interpreter.h"
#include "core/exchange/scalar.h"
#include "core/json/ascii.h"

namespace plimsoll::exchange::python {

namespace {

constexpr std::string_view data_words[] = {"data", "eval", "val_", "valid", "test"};

bool names_data(const Expression& e) {
  if (e.kind != Expression::Kind::name && e.kind != Expression::Kind::attribute) return false;
  const std::string lower = ascii::lower(e.word);
  return std::any_of(std::begin(data_words), std::end(data_words),
                     [&lower](std::string_view word) { return lower.find(word) != std::string::npos; });
}

}  // namespace

std::string dotted(const Expression& e) {
  if (e.kind == Expression::Kind::name) return e.word;
  if (e.kind != Expression::Kind::attribute) return "";
  const std::string owner = dotted(e.parts[0]);
  return owner.empty() ? e.word : owner + "." + e.word;
}

Value Interpreter::opaque(const Expression& e) const {
  const bool inside = !quiet_ && e.span.at + e.span.length <= text_.size();
  return unknown(inside ? text_.substr(e.span.at, e.span.length) : std::string_view(e.word), e.span);
}

Value Interpreter::flag(bool on, const Expression& e) const {
  return {scalar_node(on, opaque(e).node.raw, false, e.span)};
}

Value Interpreter::evaluate(const Expression& e, Scope& scope) {
  if (++steps_ > most_steps || depth_ >= deepest_run) return opaque(e);
  ++depth_;
  Value value = evaluate_kind(e, scope);
  --depth_;
  return value;
}

Value Interpreter::evaluate_kind(const Expression& e, Scope& scope) {
  switch (e.kind) {
    case Expression::Kind::other:
      for (const Expression& part : e.parts) (void)evaluate(part, scope);
      return opaque(e);
    case Expression::Kind::number: {
      const auto number = meant_number(e.word);
      return number ? Value{scalar_node(*number, e.word, false, e.span)} : opaque(e);
    }
    case Expression::Kind::text:
      return text(e, scope);
    case Expression::Kind::name:
      return name(e, scope);
    case Expression::Kind::attribute:
      return attribute(e, scope);
    case Expression::Kind::call:
      return call(e, scope);
    case Expression::Kind::subscript:
      return subscript(e, scope);
    case Expression::Kind::list:
      return list(e, scope);
    case Expression::Kind::dict:
      return dict(e, scope);
    case Expression::Kind::negation: {
      const auto truth = holds(e.parts[0], scope);
      return truth ? flag(!*truth, e) : opaque(e);
    }
    case Expression::Kind::operation:
      return operation(e, scope);
    case Expression::Kind::comparison:
      return comparison(e, scope);
    case Expression::Kind::either:
      return either(e, scope);
    case Expression::Kind::choice:
      return choice(e, scope);
    case Expression::Kind::lambda:
      return lambda(e, scope);
    case Expression::Kind::comprehension:
      return comprehension(e, scope);
  }
  return opaque(e);
}

// A folder of one's own goes before the hub's name, which says more: it is not there. A data set that the script
// makes is taken for one with rows.
std::optional<bool> Interpreter::holds(const Expression& e, const Value& value) {
  if (is(value, Object::Kind::call)) {
    const std::string name = last_of(value.object->name);
    const bool asks_for_file = name == "exists" || name == "isdir" || name == "isfile" || name == "is_dir";
    guessed_ = guessed_ || asks_for_file || names_data(e);
    if (asks_for_file) return false;
    if (names_data(e)) return true;
  }
  return truth_of(value);
}

std::optional<bool> Interpreter::holds(const Expression& e, Scope& scope) {
  return holds(e, evaluate(e, scope));
}

Value Interpreter::text(const Expression& e, Scope& scope) {
  if (!e.formatted || e.word.find('{') == std::string::npos)
    return {scalar_node(e.word, e.word, true, e.span)};
  const auto filled = formatted(e.word, scope);
  Value value{scalar_node(filled.value_or(e.word), filled.value_or(e.word), true, e.span)};
  value.node.opaque = !filled;
  return value;
}

// f"{OWNER}/{cfg.name:>8}": nothing where one of them is not known.
std::optional<std::string> Interpreter::formatted(std::string_view text, Scope& scope) {
  std::string filled;
  while (!text.empty()) {
    const size_t open = std::min(text.find_first_of("{}"), text.size());
    filled += text.substr(0, open);
    text.remove_prefix(open);
    if (text.empty()) break;
    if (text.size() > 1 && text[1] == text[0]) {  // "{{" is a brace
      filled += text[0];
      text.remove_prefix(2);
      continue;
    }
    const size_t close = text.find('}');
    if (text[0] == '}' || close == std::string_view::npos) return std::nullopt;
    const bool quiet = quiet_;
    quiet_ = true;
    parsed_.push_back(parse_expression(text.substr(1, close - 1)));
    const Value found = evaluate(parsed_.back(), scope);
    quiet_ = quiet;
    if (!is_known(found) || is_none(found) || filled.size() > most_characters) return std::nullopt;
    filled += found.node.raw;
    text.remove_prefix(close + 1);
  }
  return filled;
}

Value Interpreter::name(const Expression& e, Scope& scope) {
  if (e.word == "None") return {scalar_node(nullptr, e.word, false, e.span)};
  if (e.word == "True" || e.word == "False") return flag(e.word == "True", e);
  for (const Scope* in = &scope; in != nullptr; in = in->outer) {
    const auto found = in->names.find(e.word);
    if (found == in->names.end()) continue;
    Value value = found->second;
    // What stands for a call is not the call.
    if (value.object != nullptr) value.node = opaque(e).node;
    if (value.node.span.length == 0) value.node.span = e.span;
    return value;
  }
  return opaque(e);
}

Value Interpreter::attribute(const Expression& e, Scope& scope) {
  const std::string full = dotted(e);
  const std::string root = full.substr(0, full.find('.'));
  if ((root == "torch" || root == "jnp") && e.parts[0].kind != Expression::Kind::call)
    return {scalar_node(full, full, false, e.span)};
  const Value owner = evaluate(e.parts[0], scope);
  std::optional<Value> found = attribute_of(owner, e.word);
  const bool foreign = owner.object == nullptr ? owner.node.opaque : is(owner, Object::Kind::call);
  if (!found && foreign) found = elsewhere(dotted(e.parts[0]), e.word);
  if (!found) return opaque(e);
  if (owner.object != nullptr && owner.object->flags)
    note_flag(e.word, found->node.span.length == 0 ? e.span : found->node.span);
  if (found->object != nullptr) found->node = opaque(e).node;
  if (found->node.span.length == 0) found->node.span = e.span;  // store_true: nothing else is written
  return *found;
}

Value Interpreter::subscript(const Expression& e, Scope& scope) {
  const Value owner = evaluate(e.parts[0], scope), key = evaluate(e.parts[1], scope);
  if (!is_known(key)) return opaque(e);
  if (is(owner, Object::Kind::map)) {
    const Entry* entry = find(*owner.object, key.node.raw);
    if (entry == nullptr) return opaque(e);
    // MODELS[args.size]: the flag says which.
    const Expression& by = e.parts[1];
    if (by.kind == Expression::Kind::attribute && find(*flags_, by.word) != nullptr)
      note_flag(by.word, entry->value.node.span);
    return entry->value;
  }
  if (!is(owner, Object::Kind::list) || !key.node.value.is_number_integer()) return opaque(e);
  const auto& items = owner.object->items;
  const int64_t at = key.node.value.get<int64_t>(), size = static_cast<int64_t>(items.size());
  if (at >= size || at < -size) return opaque(e);
  return items[static_cast<size_t>(at < 0 ? size + at : at)];
}

Value Interpreter::list_of(std::vector<Value> items, Span span) {
  Value made;
  steps_ += items.size();
  made.node.span = span;
  made.object = objects_.make(Object::Kind::list, span);
  made.object->items = std::move(items);
  return made;
}

Value Interpreter::list(const Expression& e, Scope& scope) {
  std::vector<Value> items;
  for (const Expression& part : e.parts) {
    const bool spread =
        part.kind == Expression::Kind::operation && part.word == "*" && part.parts.size() == 1;
    const Value value = evaluate(spread ? part.parts[0] : part, scope);
    if (const auto several = spread ? items_of(value) : std::nullopt) {
      steps_ += several->size();
      items.insert(items.end(), several->begin(), several->end());
    } else {
      items.push_back(value);
    }
  }
  return list_of(std::move(items), e.span);
}

Value Interpreter::dict(const Expression& e, Scope& scope) {
  Object* map = objects_.make(Object::Kind::map, e.span);
  for (size_t i = 0; i + 1 < e.parts.size(); i += 2) {
    const Value value = evaluate(e.parts[i + 1], scope);
    const bool spread = e.parts[i].kind == Expression::Kind::other && e.parts[i].span.length == 0;
    if (spread && is(value, Object::Kind::map)) {
      for (const Entry& entry : value.object->entries) set(*map, entry);
    }
    const Value key = spread ? Value() : evaluate(e.parts[i], scope);
    if (!spread && key.object == nullptr) set(*map, {key.node.raw, e.parts[i].span, value});
  }
  Value made;
  made.node.span = e.span;
  made.object = map;
  return made;
}

// "LoraConfig(...) if args.use_peft else None": what is not taken is not called.
Value Interpreter::choice(const Expression& e, Scope& scope) {
  const auto taken = holds(e.parts[1], scope);
  if (taken) return evaluate(e.parts[*taken ? 0 : 2], scope);
  (void)evaluate(e.parts[0], scope);
  (void)evaluate(e.parts[2], scope);
  return opaque(e);
}

// default_factory=lambda: ["q_proj"], map(lambda row: tokenizer(row["text"], max_length=512))
Value Interpreter::lambda(const Expression& e, Scope& scope) {
  Value made = opaque(e);
  made.object = objects_.make(Object::Kind::function, e.span);
  made.object->lambda = &e;
  made.object->scope = &scope;
  return made;
}

Value Interpreter::comprehension(const Expression& e, Scope& scope) {
  constexpr size_t most_rounds = 200;
  Scope& inner = *objects_.make_scope(&scope);
  const auto items = items_of(evaluate(e.parts[2], scope));
  const bool single = e.parts[1].parts.size() == 1;
  const Expression& target = single ? e.parts[1].parts[0] : e.parts[1];
  const bool quiet = quiet_;
  std::vector<Value> made;
  for (size_t i = 0; i < (items ? std::min(items->size(), most_rounds) : 1); ++i) {
    quiet_ = true;  // its names are nobody else's
    assign(target, items ? (*items)[i] : unknown("", {}), inner);
    quiet_ = quiet;
    const bool filtered = e.parts[3].span.length > 0;
    if (filtered && !holds(e.parts[3], inner).value_or(true)) continue;
    made.push_back(evaluate(e.parts[0], inner));
  }
  if (!items) return opaque(e);
  Value all = list_of(std::move(made), e.span);
  if (!e.is_dict) return all;
  Object* map = objects_.make(Object::Kind::map, e.span);
  for (const Value& pair : all.object->items) {
    if (pair.object->items.size() == 2 && pair.object->items[0].object == nullptr)
      set(*map, {pair.object->items[0].node.raw, e.span, pair.object->items[1]});
  }
  return {all.node, map};
}

}  // namespace plimsoll::exchange::python
