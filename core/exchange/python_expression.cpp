// Expressions of a script, as far as its own text settles them.

#include "core/exchange/python_reader.h"
#include "core/exchange/scalar.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

// Unsloth's notebooks ask the card: bf16 = is_bfloat16_supported(), fp16 = not is_bfloat16_supported().
bool asks_for_bf16(std::string_view name) {
  return name_ends_with(name, "is_bfloat16_supported") || name_ends_with(name, "is_bf16_supported") ||
         name_ends_with(name, "is_torch_bf16_gpu_available");
}

// Whether a value has more parts than `most`: "a = [a, a]", line after line, is a short text.
bool is_larger(const Node& node, size_t& most) {
  if (most == 0) return true;
  --most;
  for (const Node& item : node.items) {
    if (is_larger(item, most)) return true;
  }
  for (const Member& member : node.members) {
    if (is_larger(member.value, most)) return true;
  }
  return false;
}

// Null where there is none.
const Node* element_at(const Node& owner, const Node& key) {
  if (!is_value(key)) return nullptr;
  if (owner.is_map()) return owner.find(key.raw);
  const bool inside = key.value.is_number_unsigned() && key.value.get<uint64_t>() < owner.items.size();
  return inside ? &owner.items[key.value.get<uint64_t>()] : nullptr;
}

}  // namespace

Span PythonReader::span_from(size_t token) const {
  const size_t begin = tokens_[token].span.at;
  const PythonToken& last = tokens_[at_ > token ? at_ - 1 : token];
  return {begin, last.span.at + last.span.length - begin};
}

std::string PythonReader::dotted() {
  std::string name = peek().text;
  ++at_;
  while (is_sign(".") && peek(1).type == Type::name) {
    name += "." + peek(1).text;
    at_ += 2;
  }
  return name;
}

Node PythonReader::opaque(size_t from, int depth) {
  size_t level = 0;
  while (peek().type != Type::end) {
    const PythonToken& token = peek();
    // data["train"].map(lambda row: tokenizer(row["text"], max_length=512)): its calls are read.
    if (token.type == Type::sign && token.text == "." && depth < deepest_expression &&
        peek(1).type == Type::name) {
      ++at_;
      const size_t begin = at_;
      const std::string name = dotted();
      if (is_sign("(")) (void)call(name, span_from(begin), depth + 1);
      continue;
    }
    if (token.type == Type::sign && (token.text == "(" || token.text == "[" || token.text == "{")) ++level;
    if (token.type == Type::sign && (token.text == ")" || token.text == "]" || token.text == "}")) {
      if (level == 0) break;
      --level;
    }
    if (level == 0 && (token.type == Type::line || (token.type == Type::sign && token.text == ","))) break;
    ++at_;
  }
  const Span span = at_ > from ? span_from(from) : Span{tokens_[from].span.at, 0};
  Node node = scalar_node(nullptr, std::string(text_.substr(span.at, span.length)), false, span);
  node.opaque = true;
  return node;
}

// "a if condition else b", "a or b": what the script itself settles.
Node PythonReader::expression(int depth) {
  skip_lines_inside(depth);
  const size_t from = at_;
  if (depth > deepest_expression) return opaque(from);
  std::vector<Member>& calls = document_.root.members;
  const size_t first = calls.size();
  Node value = choice(depth);
  if (depth > 0 && peek().type == Type::line && followed_by_choice()) skip_lines();
  if (is_name("if")) {
    const size_t behind = calls.size();
    ++at_;
    const auto holds = this->holds(choice(depth + 1));
    skip_lines_inside(depth);
    if (!is_name("else")) return opaque(from);
    ++at_;
    const size_t second = calls.size();
    Node other = expression(depth + 1);
    // "LoraConfig(...) if args.use_peft else None": what is not taken is not called.
    const auto at = [&calls](size_t i) { return calls.begin() + static_cast<std::ptrdiff_t>(i); };
    if (holds && *holds) calls.erase(at(second), calls.end());
    if (holds && !*holds) calls.erase(at(first), at(behind));
    if (holds && !*holds) value = std::move(other);
    if (holds && (at_end() || is_name("for"))) return value;
    return opaque(from);
  }
  if (at_end() || (is_sign("[") && value.is_map())) return value;
  return opaque(from, depth);
}

// An expression in brackets goes on in the next line.
bool PythonReader::followed_by_choice() const {
  size_t ahead = 0;
  while (peek(ahead).type == Type::line) ++ahead;
  return is_name("if", ahead) || is_name("else", ahead);
}

bool PythonReader::at_end() const {
  return peek().type == Type::line || peek().type == Type::end || is_sign(",") || is_sign(")") ||
         is_sign("]") || is_sign("}") || is_sign(":");
}

Node PythonReader::primary(int depth) {
  const size_t from = at_;
  if (depth > deepest_expression) return opaque(from);
  if (peek().type == Type::text) return text();
  if (peek().type == Type::number || is_sign("-")) return number();
  if (is_sign("[") || is_sign("(")) return subscripts(list(depth), depth);
  if (is_sign("{")) return subscripts(dict(depth), depth);
  if (peek().type != Type::name) return opaque(from);
  if (is_name("not")) return negation(depth);
  if (is_name("lambda")) return lambda(depth);
  return subscripts(named(depth), depth);
}

// config["lora"]["r"], config["lora"].get("r", 8); what a call gives is not known, and its brackets are left.
Node PythonReader::subscripts(Node value, int depth) {
  // sys.argv[1] if ... else ...: what is not known ends with its bracket.
  while (value.opaque && is_sign("[")) {
    (void)list(depth);
    const Span last = span_from(at_ - 1);
    value.span.length = last.at + last.length - value.span.at;
    value.raw = text_.substr(value.span.at, value.span.length);
  }
  while (value.is_list() || (value.is_map() && value.call.empty())) {
    const size_t from = at_;
    const bool get = is_sign(".") && is_name("get", 1) && is_sign("(", 2);
    if (!get && !is_sign("[")) break;
    Node given;
    if (get) {
      at_ += 2;
      given = arguments("get", depth);
    } else {
      ++at_;
      given.kind = Node::Kind::map;
      given.members.push_back({"0", {}, expression(depth + 1)});
    }
    const Node* found = given.members.empty() ? nullptr : element_at(value, given.members[0].value);
    if (found == nullptr && get && given.members.size() > 1) found = &given.members[1].value;
    if (found == nullptr || (!get && !is_sign("]"))) {
      at_ = from;
      return opaque(from);
    }
    if (!get) ++at_;
    value = Node(*found);
  }
  return value;
}

Node PythonReader::text() {
  const PythonToken token = peek();
  ++at_;
  std::string text = token.text;
  Span span = token.span;
  // Strings that follow one another are one string.
  while (peek().type == Type::text) {
    text += peek().text;
    span.length = peek().span.at + peek().span.length - span.at;
    ++at_;
  }
  if (!token.formatted || text.find('{') == std::string::npos) return scalar_node(text, text, true, span);
  const auto filled = formatted(text);
  Node node = scalar_node(filled.value_or(text), filled.value_or(text), true, span);
  node.opaque = !filled;
  return node;
}

// f"{OWNER}/{cfg.name}": names alone that stand for something; nothing where one does not.
std::optional<std::string> PythonReader::formatted(std::string_view text) {
  std::string filled;
  while (!text.empty()) {
    const size_t open = std::min(text.find_first_of("{}"), text.size());
    filled += text.substr(0, open);
    text.remove_prefix(open);
    if (text.empty()) break;
    const size_t close = text.find('}');
    if (text[0] == '}' || text.substr(0, 2) == "{{" || close == std::string_view::npos) return std::nullopt;
    const Node* found = find(std::string(text.substr(1, close - 1)));
    if (found == nullptr || !is_value(*found) || found->value.is_null() || filled.size() > 1000)
      return std::nullopt;
    filled += found->raw;
    text.remove_prefix(close + 1);
  }
  return filled;
}

Node PythonReader::number() {
  const size_t from = at_;
  const bool negative = is_sign("-");
  if (negative) ++at_;
  if (peek().type != Type::number) return opaque(from);
  const std::string raw = (negative ? "-" : "") + peek().text;
  const auto number = meant_number(raw);
  ++at_;
  if (!number) return opaque(from);
  return scalar_node(*number, raw, false, span_from(from));
}

// default_factory=lambda: ["q_proj"]; of one that takes something, the calls in it: map(lambda row:
// tokenizer(row["text"], max_length=512)).
Node PythonReader::lambda(int depth) {
  const size_t from = at_;
  ++at_;
  const bool takes = !is_sign(":");
  while (takes && (peek().type == Type::name || is_sign(",") || is_sign("*") || is_sign("**"))) ++at_;
  if (!is_sign(":")) return opaque(from);
  ++at_;
  Node value = expression(depth + 1);
  if (!takes) return value;
  const Span span = span_from(from);
  Node function = scalar_node(nullptr, std::string(text_.substr(span.at, span.length)), false, span);
  function.opaque = true;
  return function;
}

// A member of "$flags", by which a setting that came of it is found again.
void PythonReader::note_flag(const Node* found, Span span) {
  std::string flag = names_.flag_of(found);
  if (flag.empty()) flag = before_.flag_of(found);
  const bool noted =
      flags_.size() > 500 || std::any_of(flags_.begin(), flags_.end(), [&](const Member& member) {
        return member.key == flag && member.key_span.at == span.at;
      });
  if (!flag.empty() && !noted) flags_.push_back({flag, span, scalar_node(flag, flag, true, span)});
}

const Node* PythonReader::find(const std::string& name) {
  const Node* found = nullptr;
  const auto take = [&found](const Node* known) {
    if (known != nullptr && (found == nullptr || (found->opaque && !known->opaque))) found = known;
  };
  take(names_.find(function(), name, &before_));
  take(before_.find(function(), name));
  // A function in a function knows what the outer one is given.
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (scope->is_class || (found != nullptr && !found->opaque)) continue;
    take(names_.find(scope->name, name, &before_));
    take(before_.find(scope->name, name));
  }
  size_t most = 1000;
  if (found != nullptr && is_larger(*found, most)) found = nullptr;
  has_unknown_ = has_unknown_ || found == nullptr || found->opaque;
  return found;
}

// A name, a dotted name or a call.
Node PythonReader::named(int depth) {
  const size_t from = at_;
  const std::string name = dotted();
  const Span span = span_from(from);
  if (is_sign("(")) {
    if (asks_for_bf16(name) || name == "torch.cuda.is_available") {
      (void)arguments(name, depth);
      return flag_node(true, from);
    }
    if (name == "getattr") return attribute(from, depth);
    return call(name, span, depth);
  }
  if (name == "None") return scalar_node(nullptr, name, false, span);
  if (name == "True" || name == "False") return scalar_node(name == "True", name, false, span);
  if (const Node* found = find(name); found != nullptr && (found->call.empty() || found->call == "len")) {
    Node value = *found;
    if (value.span.length == 0) value.span = span;  // store_true: nothing else is written
    note_flag(found, value.span);
    return value;
  }
  if (name.substr(0, 6) == "torch." || name.substr(0, 4) == "jnp.")
    return scalar_node(name, name, false, span);
  Node node = scalar_node(nullptr, name, false, span);
  node.opaque = true;
  return node;
}

// getattr(torch, "float16"): torch.float16. Of any other object nothing is known.
Node PythonReader::attribute(size_t from, int depth) {
  if (peek(1).text == "torch" && is_sign(",", 2)) {
    at_ += 3;
    const Node name = expression(depth + 1);
    if (is_sign(")") && is_value(name) && name.quoted) {
      ++at_;
      return scalar_node("torch." + name.raw, "torch." + name.raw, false, span_from(from));
    }
  }
  at_ = from;
  return opaque(from);
}

Node PythonReader::list(int depth) {
  Node node;
  node.kind = Node::Kind::list;
  const char close = peek().text == "[" ? ']' : ')';
  const size_t start = at_;
  ++at_;
  bool comma = false;
  while (peek().type != Type::end) {
    skip_lines();
    if (is_sign(std::string_view(&close, 1))) break;
    if (is_sign(",")) {
      comma = true;
      ++at_;
      continue;
    }
    const size_t before = at_;
    node.items.push_back(expression(depth + 1));
    if (at_ == before) ++at_;
  }
  if (peek().type != Type::end) ++at_;
  node.span = span_from(start);
  if (close == ')' && !comma && node.items.size() == 1) return Node(std::move(node.items[0]));
  return node;
}

// "**defaults", among arguments or in a dict.
bool PythonReader::take_spread(Node& node, int depth) {
  if (!is_sign("**")) return false;
  ++at_;
  const Node spread = expression(depth + 1);
  node.members.insert(node.members.end(), spread.members.begin(), spread.members.end());
  return true;
}

Node PythonReader::dict(int depth) {
  Node node;
  node.kind = Node::Kind::map;
  const size_t start = at_;
  ++at_;
  while (peek().type != Type::end) {
    skip_lines();
    if (is_sign("}")) break;
    if (is_sign(",")) {
      ++at_;
      continue;
    }
    const size_t before = at_;
    if (take_spread(node, depth)) continue;
    const Node key = expression(depth + 1);
    skip_lines();
    if (is_sign(":")) {
      ++at_;
      Node value = expression(depth + 1);
      if (key.is_scalar()) node.members.push_back({key.raw, key.span, std::move(value)});
    }
    if (at_ == before) ++at_;
  }
  if (peek().type != Type::end) ++at_;
  node.span = span_from(start);
  return node;
}

}  // namespace plimsoll::exchange
