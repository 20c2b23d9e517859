// Operators of a script's expressions: arithmetic, comparisons, and, or.
#include <algorithm>
#include <cmath>

#include "core/exchange/python/interpreter.h"
#include "core/exchange/scalar.h"

namespace plimsoll::exchange::python {

namespace {

std::optional<double> number_of(const Value& value) {
  if (!is_known(value) || !value.node.value.is_number()) return std::nullopt;
  return value.node.value.get<double>();
}

std::optional<double> result_of(const std::string& sign, double left, double right) {
  if (sign == "+") return left + right;
  if (sign == "-") return left - right;
  if (sign == "*") return left * right;
  if (sign == "**") return std::pow(left, right);
  if (right == 0) return std::nullopt;
  if (sign == "/") return left / right;
  if (sign == "//") return std::floor(left / right);
  if (sign == "%") return left - right * std::floor(left / right);
  return std::nullopt;
}

std::optional<bool> contains(const Value& all, const Value& one) {
  if (!is_known(one)) return std::nullopt;
  // "eval_strategy" in inspect.signature(TrainingArguments).parameters: of the newest release.
  if (all.object == nullptr && all.node.raw.find("signature(") != std::string::npos) return true;
  if (is_text(all) && is_text(one)) return all.node.raw.find(one.node.raw) != std::string::npos;
  if (is(all, Object::Kind::map)) return find(*all.object, one.node.raw) != nullptr;
  if (!is(all, Object::Kind::list)) return std::nullopt;
  for (const Value& item : all.object->items) {
    if (!is_known(item)) return std::nullopt;
    if (item.node.value == one.node.value) return true;
  }
  return false;
}

std::optional<bool> compared(const std::string& sign, const Value& left, const Value& right) {
  // What a script counts is there.
  if (is(left, Object::Kind::call)) {
    const bool counts = left.object->name == "len" && number_of(right) == 0.0;
    return counts && (sign == ">" || sign == "!=") ? std::optional(true) : std::nullopt;
  }
  if (left.object != nullptr && is_none(right)) return sign == "is not" || sign == "!=";
  if (!is_known(left) || !is_known(right)) return std::nullopt;
  if (sign == "==" || sign == "is") return left.node.value == right.node.value;
  if (sign == "!=" || sign == "is not") return left.node.value != right.node.value;
  const auto a = number_of(left), b = number_of(right);
  if (!a || !b) return std::nullopt;
  return sign == "<" ? *a < *b : sign == ">" ? *a > *b : sign == "<=" ? *a <= *b : *a >= *b;
}

}  // namespace

// 4 * 1024, max_seq_length - max_prompt_length, batch_size // micro_batch_size, OWNER + "/" + NAME
Value Interpreter::operation(const Expression& e, Scope& scope) {
  if (e.parts.size() == 1 && e.parts[0].kind == Expression::Kind::number && e.word == "-") {
    const auto number = meant_number("-" + e.parts[0].word);
    return number ? Value{scalar_node(*number, "-" + e.parts[0].word, false, e.span)} : opaque(e);
  }
  const Value left = evaluate(e.parts[0], scope);
  if (e.parts.size() == 1) {
    const auto number = number_of(left);
    if (!number || e.word == "~" || e.word == "*") return opaque(e);
    return {scalar_node(e.word == "-" ? -*number : *number, opaque(e).node.raw, false, e.span)};
  }
  const Value right = evaluate(e.parts[1], scope);
  if (e.word == "+" && is_text(left) && is_text(right) && left.node.raw.size() <= most_characters) {
    const std::string whole = left.node.raw + right.node.raw;
    return {scalar_node(whole, whole, true, e.span)};
  }
  const auto parts_of = [](const Value& value) {
    return is(value, Object::Kind::list) ? value.object->items.size() : 0;
  };
  if (e.word == "+" && parts_of(left) > 0 && parts_of(right) > 0 &&
      parts_of(left) + parts_of(right) < most_characters) {
    std::vector<Value> items = left.object->items;
    items.insert(items.end(), right.object->items.begin(), right.object->items.end());
    return list_of(std::move(items), e.span);
  }
  const auto a = number_of(left), b = number_of(right);
  const auto total = a && b ? result_of(e.word, *a, *b) : std::nullopt;
  if (!total || !(*total >= 0 && *total < 9e15)) return opaque(e);
  const std::string raw = opaque(e).node.raw;
  if (std::floor(*total) == *total) return {scalar_node(static_cast<uint64_t>(*total), raw, false, e.span)};
  return {scalar_node(*total, raw, false, e.span)};
}

Value Interpreter::comparison(const Expression& e, Scope& scope) {
  const Value left = evaluate(e.parts[0], scope), right = evaluate(e.parts[1], scope);
  if (e.word == "in" || e.word == "not in") {
    const auto inside = contains(right, left);
    return inside ? flag(*inside == (e.word == "in"), e) : opaque(e);
  }
  if (is_none(right) && is_none(left) && e.parts[0].kind == Expression::Kind::attribute)
    return opaque(e);  // it may be given on the command line
  if (is_none(right) && is(left, Object::Kind::call) && holds(e.parts[0], left) == true)
    return flag(e.word == "is not" || e.word == "!=", e);
  const auto result = compared(e.word, left, right);
  return result ? flag(*result, e) : opaque(e);
}

// "a or b", "a and b": what the script itself settles.
Value Interpreter::either(const Expression& e, Scope& scope) {
  const bool is_or = e.word == "or";
  bool open = false;
  Value last;
  for (const Expression& part : e.parts) {
    last = evaluate(part, scope);
    const auto truth = holds(part, last);
    // One side is enough for "and" to fail and for "or" to hold.
    if (truth && *truth == is_or) return last;
    open = open || !truth;
  }
  return open ? opaque(e) : last;
}

}  // namespace plimsoll::exchange::python
