// Settings in Python source. A recursive reader of a small part of the grammar: calls, assignments, literals,
// lists, dicts, dotted names. Whatever else stands there is stepped over; nothing is executed.
#include <cmath>
#include <map>
#include <optional>

#include "core/exchange/languages.h"
#include "core/exchange/scalar.h"
#include "core/json/ascii.h"

namespace plimsoll::exchange {

namespace {

using ascii::is_digit;

using json::Json;

enum class Type : uint8_t { name, number, text, sign, line, end };

struct Token {
  Type type = Type::end;
  std::string text;  ///< a string without its quotes
  Span span;
  bool formatted = false;  ///< an f-string
};

// With the bytes of every other alphabet.
bool is_letter_of_name(char c) { return ascii::is_letter(c) || c == '_' || c < 0; }

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::vector<Token> scan() {
    std::vector<Token> tokens;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const size_t start = at_;
      if (c == '\n') {
        ++at_;
        tokens.push_back({Type::line, "\n", {start, 1}});
      } else if (c == ' ' || c == '\t' || c == '\r') {
        ++at_;
      } else if (c == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') {
        at_ += 2;
      } else if (c == '#' || ((c == '!' || c == '%') && line_begins())) {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (const auto prefix = string_prefix()) {
        tokens.push_back(string(*prefix));
      } else if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) {
        while (at_ < text_.size() &&
               (is_letter_of_name(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '.' ||
                ((text_[at_] == '-' || text_[at_] == '+') && (text_[at_ - 1] | 0x20) == 'e' &&
                 text_.substr(start, 2) != "0x"))) {
          ++at_;
        }
        tokens.push_back({Type::number, std::string(text_.substr(start, at_ - start)), {start, at_ - start}});
      } else if (is_letter_of_name(c)) {
        while (at_ < text_.size() && (is_letter_of_name(text_[at_]) || is_digit(text_[at_]))) ++at_;
        tokens.push_back({Type::name, std::string(text_.substr(start, at_ - start)), {start, at_ - start}});
      } else {
        ++at_;
        if ((c == '*' || c == '/') && at_ < text_.size() && text_[at_] == c) ++at_;
        if ((c == '=' || c == '!' || c == '<' || c == '>') && at_ < text_.size() && text_[at_] == '=') ++at_;
        tokens.push_back({Type::sign, std::string(text_.substr(start, at_ - start)), {start, at_ - start}});
      }
    }
    tokens.push_back({Type::end, "", {text_.size(), 0}});
    return tokens;
  }

 private:
  bool line_begins() const {
    size_t i = at_;
    while (i > 0 && (text_[i - 1] == ' ' || text_[i - 1] == '\t')) --i;
    return i == 0 || text_[i - 1] == '\n';
  }
  // r, b, u, f and pairs of them before a quote.
  std::optional<size_t> string_prefix() const {
    size_t i = at_;
    while (i < text_.size() && i < at_ + 2 &&
           std::string_view("rRbBuUfF").find(text_[i]) != std::string_view::npos)
      ++i;
    if (i < text_.size() && (text_[i] == '"' || text_[i] == '\'')) return i - at_;
    return std::nullopt;
  }
  Token string(size_t prefix) {
    Token token;
    token.type = Type::text;
    token.span.at = at_;
    bool raw = false;
    for (size_t i = 0; i < prefix; ++i) {
      raw = raw || (text_[at_ + i] | 0x20) == 'r';
      token.formatted = token.formatted || (text_[at_ + i] | 0x20) == 'f';
    }
    at_ += prefix;
    const char quote = text_[at_];
    const std::string triple(3, quote);
    const bool is_triple = text_.substr(at_, 3) == triple;
    at_ += is_triple ? 3 : 1;
    while (at_ < text_.size()) {
      if (is_triple ? text_.substr(at_, 3) == triple : text_[at_] == quote) {
        at_ += is_triple ? 3 : 1;
        break;
      }
      if (!is_triple && text_[at_] == '\n') break;
      if (text_[at_] == '\\' && !raw && at_ + 1 < text_.size()) {
        const char next = text_[at_ + 1];
        if (next != '\n') token.text += next == 'n' ? '\n' : next == 't' ? '\t' : next;
        at_ += 2;
      } else {
        token.text += text_[at_++];
      }
    }
    token.span.length = at_ - token.span.at;
    return token;
  }

  std::string_view text_;
  size_t at_ = 0;
};

// Unsloth's notebooks ask the card: bf16 = is_bfloat16_supported(), fp16 = not is_bfloat16_supported().
bool asks_for_bf16(std::string_view name) {
  const auto ends = [name](std::string_view tail) {
    return name.size() >= tail.size() && name.substr(name.size() - tail.size()) == tail;
  };
  return ends("is_bfloat16_supported") || ends("is_bf16_supported") || ends("is_torch_bf16_gpu_available");
}

class Reader {
 public:
  Reader(std::string_view text, Document& document)
      : text_(text), tokens_(Scanner(text).scan()), document_(document) {}

  void read() {
    document_.root.kind = Node::Kind::map;
    while (peek().type != Type::end) statement();
  }

 private:
  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  bool is_sign(std::string_view sign, size_t ahead = 0) const {
    return peek(ahead).type == Type::sign && peek(ahead).text == sign;
  }
  void skip_lines() {
    while (peek().type == Type::line) ++at_;
  }

  // One step: an assignment, a call somewhere in a line, or one token that means nothing here.
  void statement() {
    if (peek().type == Type::sign && peek().text == "{" && document_.root.members.empty()) {
      Node value = primary(0);
      if (value.is_map()) {
        for (Member& member : value.members) document_.root.members.push_back(std::move(member));
      }
      return;
    }
    if (peek().type != Type::name) {
      ++at_;
      return;
    }
    const size_t begin = at_;
    const std::string name = dotted();
    const Span key_span{tokens_[begin].span.at,
                        tokens_[at_ - 1].span.at + tokens_[at_ - 1].span.length - tokens_[begin].span.at};
    // os.environ["NAME"] = "value"
    if (name == "os.environ" && is_sign("[") && peek(1).type == Type::text && is_sign("]", 2) &&
        is_sign("=", 3)) {
      const Token variable = peek(1);
      at_ += 4;
      Node value = expression(0);
      document_.root.members.push_back({"$" + variable.text, variable.span, std::move(value)});
      return;
    }
    // "name: type = value"
    if (is_sign(":") && peek(1).type == Type::name && is_sign("=", 2)) at_ += 2;
    if (is_sign("(")) {
      if (name == "import" || name == "def" || name == "class") return;
      call(name, key_span, 0);
      return;
    }
    if (!is_sign("=")) {
      if (name == "from" || name == "import") note_import();
      return;
    }
    ++at_;
    Node value = expression(0);
    // "max_length = 512," pasted out of a call.
    if (is_sign(",") && (peek(1).type == Type::line || peek(1).type == Type::end)) ++at_;
    if (value.is_map() && !value.call.empty()) return;  // a call: it is a member of the root already
    assigned_[name] = value;
    if (!value.opaque) document_.root.members.push_back({name, key_span, std::move(value)});
  }

  void note_import() {
    while (peek().type == Type::name || is_sign(".") || is_sign(",")) {
      if (peek().type == Type::name && peek().text == "unsloth") {
        document_.root.members.push_back(
            {"$import", peek().span, scalar_node("unsloth", "unsloth", true, {})});
      }
      ++at_;
    }
  }

  std::string dotted() {
    std::string name = peek().text;
    ++at_;
    while (is_sign(".") && peek(1).type == Type::name) {
      name += "." + peek(1).text;
      at_ += 2;
    }
    return name;
  }

  // At "(". Adds the call to the root and gives its arguments.
  Node call(const std::string& name, Span key_span, int depth) {
    Node node;
    node.kind = Node::Kind::map;
    node.call = name;
    const size_t start = peek().span.at;
    ++at_;
    size_t position = 0;
    while (peek().type != Type::end) {
      skip_lines();
      if (is_sign(")")) break;
      if (is_sign(",")) {
        ++at_;
        continue;
      }
      const size_t before = at_;
      if (is_sign("**")) {
        ++at_;
        const Node spread = expression(depth + 1);
        for (const Member& member : spread.members) node.members.push_back(member);
      } else if (peek().type == Type::name && is_sign("=", 1)) {
        const Token key = peek();
        at_ += 2;
        skip_lines();
        Node value = expression(depth + 1);
        node.members.push_back({key.text, key.span, std::move(value)});
      } else {
        Node value = expression(depth + 1);
        node.members.push_back({std::to_string(position++), value.span, std::move(value)});
      }
      if (at_ == before) ++at_;
    }
    if (is_sign(")")) ++at_;
    node.span = {start, tokens_[at_ - 1].span.at + tokens_[at_ - 1].span.length - start};
    if (depth < 64) document_.root.members.push_back({name, key_span, node});
    return node;
  }

  Node opaque(size_t from) {
    size_t level = 0;
    while (peek().type != Type::end) {
      const Token& token = peek();
      if (token.type == Type::sign && (token.text == "(" || token.text == "[" || token.text == "{")) ++level;
      if (token.type == Type::sign && (token.text == ")" || token.text == "]" || token.text == "}")) {
        if (level == 0) break;
        --level;
      }
      if (level == 0 && (token.type == Type::line || (token.type == Type::sign && token.text == ","))) break;
      ++at_;
    }
    const size_t begin = tokens_[from].span.at;
    const size_t end = at_ > from ? tokens_[at_ - 1].span.at + tokens_[at_ - 1].span.length : begin;
    Node node =
        scalar_node(nullptr, std::string(text_.substr(begin, end - begin)), false, {begin, end - begin});
    node.opaque = true;
    return node;
  }

  Node expression(int depth) {
    skip_lines_inside(depth);
    const size_t from = at_;
    Node value = primary(depth);
    if (at_end()) return value;
    if (auto number = whole_number(value)) {
      number = sum(*number, depth);
      if (number && *number >= 0 && *number < 9e15 && at_end()) {
        const size_t begin = tokens_[from].span.at;
        const size_t length = tokens_[at_ - 1].span.at + tokens_[at_ - 1].span.length - begin;
        return scalar_node(static_cast<uint64_t>(*number), std::string(text_.substr(begin, length)), false,
                           {begin, length});
      }
    }
    if (is_sign("[") && value.is_map()) return value;
    return opaque(from);
  }
  bool at_end() const {
    return peek().type == Type::line || peek().type == Type::end || is_sign(",") || is_sign(")") ||
           is_sign("]") || is_sign("}") || is_sign(":");
  }

  // 4 * 1024, 287 + 1, max_seq_length - max_prompt_length, batch_size // micro_batch_size: how whole numbers
  // are often written. At an operator behind `left`; nothing when a side is no number that is known.
  std::optional<double> sum(double left, int depth) {
    auto total = product(left, depth);
    while (total && (is_sign("+") || is_sign("-"))) {
      const double sign = is_sign("+") ? 1 : -1;
      const auto right = operand(depth);
      const auto term = right ? product(*right, depth) : right;
      total = term ? std::optional(*total + sign * *term) : std::nullopt;
    }
    return total;
  }
  std::optional<double> product(double left, int depth) {
    std::optional<double> result = left;
    while (result && (is_sign("*") || is_sign("**") || is_sign("//"))) {
      const std::string sign = peek().text;
      const auto right = operand(depth);
      if (!right || (sign == "//" && *right == 0)) return std::nullopt;
      result = sign == "*"    ? *result * *right
               : sign == "//" ? std::floor(*result / *right)
                              : std::pow(*result, *right);
    }
    return result;
  }
  std::optional<double> operand(int depth) {
    ++at_;
    skip_lines_inside(depth);
    return whole_number(primary(depth + 1));
  }
  static std::optional<double> whole_number(const Node& node) {
    if (!node.is_scalar() || node.opaque || !node.value.is_number_unsigned()) return std::nullopt;
    return static_cast<double>(node.value.get<uint64_t>());
  }
  void skip_lines_inside(int depth) {
    if (depth > 0) skip_lines();
  }

  Node primary(int depth) {
    const Token token = peek();
    const size_t from = at_;
    if (depth > 64) return opaque(from);
    if (token.type == Type::text) {
      ++at_;
      std::string text = token.text;
      Span span = token.span;
      // Strings that follow one another are one string.
      while (peek().type == Type::text) {
        text += peek().text;
        span.length = peek().span.at + peek().span.length - span.at;
        ++at_;
      }
      Node node = scalar_node(text, text, true, span);
      if (token.formatted && text.find('{') != std::string::npos) node.opaque = true;
      return node;
    }
    if (token.type == Type::number || is_sign("-")) {
      const bool negative = is_sign("-");
      if (negative) ++at_;
      if (peek().type != Type::number) return opaque(from);
      const std::string raw = (negative ? "-" : "") + peek().text;
      const size_t end = peek().span.at + peek().span.length;
      const auto number = meant_number(raw);
      ++at_;
      if (!number) return opaque(from);
      return scalar_node(*number, raw, false, {token.span.at, end - token.span.at});
    }
    if (is_sign("[") || is_sign("(")) return list(depth);
    if (is_sign("{")) return dict(depth);
    if (token.type != Type::name) return opaque(from);
    if (token.text == "not" && peek(1).type == Type::name) {
      ++at_;
      Node inner = primary(depth + 1);
      inner.span = {token.span.at, inner.span.at + inner.span.length - token.span.at};
      if (inner.value.is_boolean()) {
        inner.value = !inner.value.get<bool>();
        inner.raw = "not " + inner.raw;
        return inner;
      }
      return opaque(from);
    }
    return named(depth);
  }

  // A name, a dotted name or a call.
  Node named(int depth) {
    const size_t from = at_;
    const Token token = peek();
    const std::string name = dotted();
    const Span span{token.span.at, tokens_[at_ - 1].span.at + tokens_[at_ - 1].span.length - token.span.at};
    if (is_sign("(")) {
      if (asks_for_bf16(name)) {
        (void)call(name, span, 65);
        return scalar_node(true, name + "()", false, {span.at, tokens_[at_ - 1].span.at + 1 - span.at});
      }
      if (name == "getattr") return attribute(from, depth);
      return call(name, span, depth);
    }
    if (name == "None") return scalar_node(nullptr, name, false, span);
    if (name == "True" || name == "False") return scalar_node(name == "True", name, false, span);
    const auto found = assigned_.find(name);
    if (found != assigned_.end()) return found->second;
    if (name.substr(0, 6) == "torch." || name.substr(0, 4) == "jnp.")
      return scalar_node(name, name, false, span);
    at_ = from;
    Node node = opaque(from);
    return node;
  }

  // getattr(torch, "float16"): torch.float16. Of any other object nothing is known.
  Node attribute(size_t from, int depth) {
    if (peek(1).text == "torch" && is_sign(",", 2)) {
      at_ += 3;
      const Node name = expression(depth + 1);
      if (is_sign(")") && name.is_scalar() && name.quoted && !name.opaque) {
        ++at_;
        const size_t begin = tokens_[from].span.at, end = tokens_[at_ - 1].span.at + 1;
        return scalar_node("torch." + name.raw, "torch." + name.raw, false, {begin, end - begin});
      }
    }
    at_ = from;
    return opaque(from);
  }

  Node list(int depth) {
    Node node;
    node.kind = Node::Kind::list;
    const char close = peek().text == "[" ? ']' : ')';
    const size_t start = peek().span.at;
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
    ++at_;
    if (at_ > tokens_.size() - 1) at_ = tokens_.size() - 1;
    node.span = {start, tokens_[at_ - 1].span.at + tokens_[at_ - 1].span.length - start};
    if (close == ')' && !comma && node.items.size() == 1) return std::move(node.items[0]);
    return node;
  }

  Node dict(int depth) {
    Node node;
    node.kind = Node::Kind::map;
    const size_t start = peek().span.at;
    ++at_;
    while (peek().type != Type::end) {
      skip_lines();
      if (is_sign("}")) break;
      if (is_sign(",")) {
        ++at_;
        continue;
      }
      const size_t before = at_;
      if (is_sign("**")) {
        ++at_;
        const Node spread = expression(depth + 1);
        for (const Member& member : spread.members) node.members.push_back(member);
        continue;
      }
      const Node key = expression(depth + 1);
      skip_lines();
      if (is_sign(":")) {
        ++at_;
        Node value = expression(depth + 1);
        if (key.is_scalar()) node.members.push_back({key.raw, key.span, std::move(value)});
      }
      if (at_ == before) ++at_;
    }
    ++at_;
    if (at_ > tokens_.size() - 1) at_ = tokens_.size() - 1;
    node.span = {start, tokens_[at_ - 1].span.at + tokens_[at_ - 1].span.length - start};
    return node;
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  Document& document_;
  std::map<std::string, Node> assigned_;
};

}  // namespace

Document read_python(std::string_view text) {
  Document document;
  document.language = Language::python;
  Reader(text, document).read();
  return document;
}

}  // namespace plimsoll::exchange
