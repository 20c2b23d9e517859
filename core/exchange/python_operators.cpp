// Operators of a script's expressions: arithmetic, comparisons, and, or, not.
#include <algorithm>
#include <cmath>

#include "core/exchange/python_reader.h"
#include "core/json/ascii.h"

namespace plimsoll::exchange {

namespace {

constexpr std::string_view data_words[] = {"data", "eval", "val_", "valid", "test"};

std::optional<double> literal_number(const Node& node) {
  if (!node.is_scalar() || node.opaque || !node.value.is_number()) return std::nullopt;
  return node.value.get<double>();
}

std::optional<bool> compared(const std::string& sign, const Node& left, const Node& right) {
  // What a script counts is there.
  if (left.call == "len" && (sign == ">" || sign == "!=") && literal_number(right) == 0.0) return true;
  // What is None in the script may be given on its command line.
  if (!left.is_scalar() || left.opaque || !right.is_scalar() || right.opaque || left.value.is_null())
    return std::nullopt;
  if (sign == "==" || sign == "is") return left.value == right.value;
  if (sign == "!=" || sign == "is not") return left.value != right.value;
  const auto a = literal_number(left), b = literal_number(right);
  if (!a || !b) return std::nullopt;
  return sign == "<" ? *a < *b : sign == ">" ? *a > *b : sign == "<=" ? *a <= *b : *a >= *b;
}

}  // namespace

std::optional<bool> truth_of(const Node& node) {
  if (node.is_map()) return node.call.empty() ? std::optional(!node.members.empty()) : std::nullopt;
  if (node.is_list()) return !node.items.empty();
  if (node.opaque) return std::nullopt;
  if (node.value.is_boolean()) return node.value.get<bool>();
  if (node.value.is_number()) return node.value.get<double>() != 0;
  return !node.value.is_null() && !node.raw.empty();
}

// A data set that the script made by a call: eval_dataset = load(path).
bool PythonReader::is_loaded_data(const std::string& name) {
  const std::string lower = ascii::lower(name);
  const bool data =
      std::any_of(std::begin(data_words), std::end(data_words),
                  [&lower](std::string_view word) { return lower.find(word) != std::string::npos; });
  if (!data) return false;
  for (const PythonNames* names : {static_cast<const PythonNames*>(&names_), &before_}) {
    const Node* made = names->find(function(), name);
    if (made != nullptr && made->is_map() && !made->call.empty()) return true;
  }
  return false;
}

// Of a choice between two values: a data set that the script makes is taken for one with rows.
std::optional<bool> PythonReader::holds(const Node& condition) {
  if (condition.is_scalar() && condition.opaque && is_loaded_data(condition.raw)) return true;
  // A folder of one's own goes before the hub's name, which says more.
  if (condition.call == "os.path.exists" || condition.call == "os.path.isdir") return false;
  return truth_of(condition);
}

Node PythonReader::flag_node(bool value, size_t from) const {
  const Span span = span_from(from);
  return scalar_node(value, std::string(text_.substr(span.at, span.length)), false, span);
}

Node PythonReader::choice(int depth) {
  const size_t from = at_;
  Node value = comparison(depth);
  while (is_name("or") || is_name("and")) {
    const bool either = is_name("or");
    ++at_;
    skip_lines_inside(depth);
    Node other = comparison(depth + 1);
    const auto first = truth_of(value);
    if (!first) {
      // One side is enough for "and" to fail and for "or" to hold.
      const auto second = truth_of(other);
      if (!second || *second != either) return opaque(from);
      value = std::move(other);
    } else if (*first != either) {
      value = std::move(other);
    }
  }
  return value;
}

Node PythonReader::comparison(int depth) {
  const size_t from = at_;
  Node left = arithmetic(depth);
  std::string sign;
  if (peek().type == Type::sign) sign = peek().text;
  if (is_name("is")) sign = is_name("not", 1) ? "is not" : "is";
  const bool known = sign == "==" || sign == "!=" || sign == "<" || sign == ">" || sign == "<=" ||
                     sign == ">=" || sign == "is" || sign == "is not";
  if (!known) return left;
  at_ += sign == "is not" ? 2 : 1;
  skip_lines_inside(depth);
  const Node right = arithmetic(depth + 1);
  const bool none = right.is_scalar() && !right.opaque && right.value.is_null();
  if (none && sign == "is not" && left.opaque && is_loaded_data(left.raw)) return flag_node(true, from);
  if (const auto holds = compared(sign, left, right)) return flag_node(*holds, from);
  Node node = flag_node(false, from);
  node.opaque = true;
  node.value = nullptr;
  return node;
}

// 4 * 1024, max_seq_length - max_prompt_length, batch_size // micro_batch_size: how numbers are often
// written.
Node PythonReader::arithmetic(int depth) {
  const size_t from = at_;
  Node value = primary(depth);
  const bool goes_on =
      is_sign("+") || is_sign("-") || is_sign("*") || is_sign("**") || is_sign("/") || is_sign("//");
  if (!goes_on) return value;
  if (value.quoted && is_value(value) && is_sign("+")) return concatenation(std::move(value), depth);
  auto total = literal_number(value);
  if (total) total = sum(*total, depth);
  if (!total || *total < 0 || *total >= 9e15) return opaque(from);
  const Span span = span_from(from);
  const std::string raw(text_.substr(span.at, span.length));
  if (std::floor(*total) == *total) return scalar_node(static_cast<uint64_t>(*total), raw, false, span);
  return scalar_node(*total, raw, false, span);
}

// OWNER + "/" + NAME
Node PythonReader::concatenation(Node left, int depth) {
  const size_t from = at_;
  while (is_sign("+")) {
    ++at_;
    skip_lines_inside(depth);
    const Node right = primary(depth + 1);
    if (!is_value(right) || !right.quoted || left.raw.size() > 1000) return opaque(from);
    left.raw += right.raw;
    left.value = left.raw;
  }
  return left;
}

// At an operator behind `left`; nothing when a side is no number that is known.
std::optional<double> PythonReader::sum(double left, int depth) {
  auto total = product(left, depth);
  while (total && (is_sign("+") || is_sign("-"))) {
    const double sign = is_sign("+") ? 1 : -1;
    const auto right = operand(depth);
    const auto term = right ? product(*right, depth) : right;
    total = term ? std::optional(*total + sign * *term) : std::nullopt;
  }
  return total;
}

std::optional<double> PythonReader::product(double left, int depth) {
  std::optional<double> result = left;
  while (result && (is_sign("*") || is_sign("**") || is_sign("//") || is_sign("/"))) {
    const std::string sign = peek().text;
    const auto right = operand(depth);
    if (!right || (sign[0] == '/' && *right == 0)) return std::nullopt;
    result = sign == "*"    ? *result * *right
             : sign == "/"  ? *result / *right
             : sign == "//" ? std::floor(*result / *right)
                            : std::pow(*result, *right);
  }
  return result;
}

std::optional<double> PythonReader::operand(int depth) {
  ++at_;
  skip_lines_inside(depth);
  return literal_number(primary(depth + 1));
}

Node PythonReader::negation(int depth) {
  const size_t from = at_;
  ++at_;
  const auto truth = truth_of(comparison(depth + 1));
  return truth ? flag_node(!*truth, from) : opaque(from);
}

}  // namespace plimsoll::exchange
