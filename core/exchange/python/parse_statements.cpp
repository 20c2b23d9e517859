// Statements of a script. A line that is none is read for the calls and the assignments in it.
#include "core/exchange/python/parser.h"

namespace plimsoll::exchange::python {

namespace {

constexpr size_t deepest_block = 40;

bool says_training(const PythonToken& token) {
  return token.type == PythonToken::Type::name &&
         (name_ends_with(token.text, "Trainer") || name_ends_with(token.text, "TrainingArguments") ||
          token.text == "train" || token.text == "backward");
}

}  // namespace

Block Parser::program() {
  Block all;
  while (!is_end()) statement(all, 0);
  return all;
}

size_t Parser::column() const {
  const size_t at = peek().span.at;
  const size_t line = at == 0 ? std::string_view::npos : text_.rfind('\n', at - 1);
  return line == std::string_view::npos ? at : at - line - 1;
}

void Parser::statement(Block& block, size_t depth) {
  if (peek().type == Type::line) {
    ++at_;
    return;
  }
  brackets_ = 0;
  const size_t from = at_;
  Statement made;
  if (depth >= deepest_block || !begins_line() || !compound(made, depth)) {
    at_ = from;
    brackets_ = 0;
    return line(block);
  }
  made.trains = std::any_of(tokens_.begin() + static_cast<std::ptrdiff_t>(from),
                            tokens_.begin() + static_cast<std::ptrdiff_t>(at_), says_training);
  block.push_back(std::move(made));
}

// A statement with a block of its own; false: what stands here is none, though it may begin like one.
bool Parser::compound(Statement& made, size_t depth) {
  const size_t here = column();
  if (is_sign("@") && at_ < undecorated_) return false;
  while (is_sign("@")) {
    ++at_;
    made.decorators.push_back(expression(0));
    while (!is_line_end()) ++at_;
    skip_lines();
  }
  undecorated_ = at_;
  if (is_name("async")) ++at_;
  const std::string word = peek().type == Type::name ? peek().text : "";
  const bool known = word == "def" || word == "class" || word == "if" || word == "for" || word == "while" ||
                     word == "with" || word == "try";
  if (!known) return false;
  made.span = peek().span;
  ++at_;
  if (word == "def") function(made);
  if (word == "class") type(made);
  if (word == "for") loop(made);
  if (word == "with") with(made);
  if (word == "try") made.kind = Statement::Kind::attempt;
  if (word == "if" || word == "while") {
    made.kind = word == "if" ? Statement::Kind::condition : Statement::Kind::repeat;
    made.value = expression(0);
  }
  if (!is_sign(":")) return false;
  ++at_;
  const bool outer = in_type_;
  in_type_ = word == "class" || (outer && word != "def");
  made.body = body(here, depth);
  in_type_ = outer;
  if (word == "if") condition(made, here, depth);
  if (word == "try") attempt(made, here, depth);
  return true;
}

// Behind ":": the rest of the line, or the lines that stand deeper than the column.
Block Parser::body(size_t here, size_t depth) {
  Block all;
  if (!is_line_end()) {
    line(all);
    return all;
  }
  while (!is_end()) {
    const size_t before = at_;
    skip_lines();
    if (is_end() || column() <= here) {
      at_ = before;
      break;
    }
    statement(all, depth + 1);
  }
  return all;
}

// Behind the block of an if: its elif and else.
void Parser::condition(Statement& made, size_t here, size_t depth) {
  const size_t before = at_;
  skip_lines();
  const bool same = !is_end() && column() == here;
  if (same && is_name("else") && is_sign(":", 1)) {
    at_ += 2;
    made.otherwise = body(here, depth);
    return;
  }
  if (same && is_name("elif")) {
    Statement inner;
    inner.kind = Statement::Kind::condition;
    inner.span = peek().span;
    const size_t from = ++at_;
    inner.value = expression(0);
    if (is_sign(":")) {
      ++at_;
      inner.body = body(here, depth);
      if (depth < deepest_block) condition(inner, here, depth + 1);
      inner.trains = std::any_of(tokens_.begin() + static_cast<std::ptrdiff_t>(from),
                                 tokens_.begin() + static_cast<std::ptrdiff_t>(at_), says_training);
      made.otherwise.push_back(std::move(inner));
      return;
    }
  }
  at_ = before;
}

// Behind the block of a try: except, else and finally.
void Parser::attempt(Statement& made, size_t here, size_t depth) {
  while (true) {
    const size_t before = at_;
    skip_lines();
    const bool except = is_name("except"), goes_on = is_name("else") || is_name("finally");
    if (is_end() || column() != here || !(except || goes_on)) {
      at_ = before;
      return;
    }
    while (!is_line_end() && !is_sign(":")) ++at_;
    if (is_sign(":")) ++at_;
    Block block = body(here, depth);
    Block& into = except ? made.otherwise : made.body;
    std::move(block.begin(), block.end(), std::back_inserter(into));
  }
}

// Names that are given values together: a, (b, c).
std::vector<Expression> Parser::names(std::string_view until) {
  std::vector<Expression> all;
  while (!is_line_end() && !is_name(until) && !is_sign(until)) {
    const size_t before = at_;
    Expression target = postfix(1);
    if (target.kind == Expression::Kind::list) {
      std::move(target.parts.begin(), target.parts.end(), std::back_inserter(all));
    } else if (target.kind != Expression::Kind::other) {
      all.push_back(std::move(target));
    }
    if (is_sign(",") || at_ == before) ++at_;
  }
  return all;
}

void Parser::loop(Statement& made) {
  made.kind = Statement::Kind::loop;
  made.targets = names("in");
  if (is_name("in")) ++at_;
  made.value = expression(0);
}

void Parser::with(Statement& made) {
  made.kind = Statement::Kind::with;
  while (!is_line_end() && !is_sign(":")) {
    const size_t before = at_;
    Argument item;
    item.value = expression(0);
    Expression target;
    if (is_name("as")) {
      ++at_;
      target = postfix(0);
    }
    made.arguments.push_back(std::move(item));
    made.targets.push_back(std::move(target));
    if (is_sign(",") || at_ == before) ++at_;
  }
}

void Parser::function(Statement& made) {
  made.kind = Statement::Kind::function;
  made.word = peek().text;
  made.span = peek().span;
  ++at_;
  if (!is_sign("(")) return;
  open();
  made.arguments = parameters(")");
  close(")");
  while (!is_line_end() && !is_sign(":")) ++at_;
}

void Parser::type(Statement& made) {
  made.kind = Statement::Kind::type;
  made.word = peek().text;
  made.span = peek().span;
  ++at_;
  if (is_sign("(")) made.arguments = arguments(0);
}

void Parser::line(Block& block) {
  while (!is_line_end()) {
    const size_t before = at_;
    simple(block);
    brackets_ = 0;
    if (at_ == before) ++at_;
  }
}

void Parser::simple(Block& block) {
  Statement made;
  made.span = peek().span;
  const std::string word = peek().type == Type::name ? peek().text : "";
  if (word == "import" || (word == "from" && !is_sign("(", 1))) return import(block);
  if (word == "raise" || word == "del" || word == "assert") {
    while (!is_line_end()) ++at_;
    return;
  }
  if (word == "break" || word == "continue" || word == "global" || word == "nonlocal") {
    ++at_;
    made.kind = word == "global" ? Statement::Kind::global : Statement::Kind::leave;
    made.word = word;
    if (made.kind == Statement::Kind::global) made.targets = names("=");
    if (word != "nonlocal") block.push_back(std::move(made));
    return;
  }
  if (word == "return") {
    ++at_;
    made.kind = Statement::Kind::result;
    const size_t from = at_;
    made.value = expression(0);
    std::vector<Expression> items;
    items.push_back(std::move(made.value));
    while (is_sign(",")) {
      ++at_;
      items.push_back(expression(0));
    }
    made.value =
        items.size() == 1 ? std::move(items[0]) : make(Expression::Kind::list, from, std::move(items));
    block.push_back(std::move(made));
    return;
  }
  Expression value = expression(0);
  const bool named = value.kind == Expression::Kind::name || value.kind == Expression::Kind::attribute ||
                     value.kind == Expression::Kind::subscript || value.kind == Expression::Kind::list;
  if (named) return assignment(block, std::move(value));
  made.value = std::move(value);
  if (made.value.span.length > 0) block.push_back(std::move(made));
}

// Behind what may be given a value: "= value", ": type = value", "+= value", ", second = values"; a word that is
// none of these says nothing.
void Parser::assignment(Block& block, Expression target) {
  Statement made;
  made.kind = Statement::Kind::assign;
  made.span = target.span;
  const size_t from = at_;
  std::vector<Expression> several;
  while (from >= ungiven_ && is_sign(",") && peek(1).type == Type::name) {
    ++at_;
    several.push_back(postfix(0));
  }
  if (!several.empty() && is_sign("=")) {
    several.insert(several.begin(), std::move(target));
    target = make(Expression::Kind::list, from, std::move(several));
  } else {
    ungiven_ = std::max(ungiven_, at_);
    at_ = from;
  }
  made.targets.push_back(std::move(target));
  if (is_sign(":")) {
    made.annotated = true;
    skip_annotation();
  }
  constexpr std::string_view signs[] = {"+", "-", "*", "/", "//", "**", "|", "%"};
  if (is_sign("=", 1) && peek().type == Type::sign &&
      std::find(std::begin(signs), std::end(signs), peek().text) != std::end(signs)) {
    made.word = peek().text;
    ++at_;
  }
  if (!is_sign("=")) {
    if (made.annotated || made.targets[0].kind == Expression::Kind::list) block.push_back(std::move(made));
    return;
  }
  ++at_;
  const size_t begin = at_;
  std::vector<Expression> items;
  items.push_back(expression(0));
  // "a = b = 4"; "size = 512," may have been pasted out of a call, and so may "a = 1, b = 2".
  while (is_sign("=") && items.size() == 1) {
    made.targets.push_back(std::move(items[0]));
    made.annotated = false;
    ++at_;
    items[0] = expression(0);
    if (items[0].span.length == 0) break;
  }
  while (is_sign(",") && peek(1).type != Type::line && peek(1).type != Type::end &&
         !(peek(1).type == Type::name && is_sign("=", 2))) {
    ++at_;
    items.push_back(expression(0));
    if (items.back().span.length == 0) break;
  }
  if (is_sign(",")) ++at_;
  made.value =
      items.size() == 1 ? std::move(items[0]) : make(Expression::Kind::list, begin, std::move(items));
  block.push_back(std::move(made));
}

// At ":" of "name: Optional[Dict[str, int]] = value", to "=", "," or ")". Where no value follows, a word before
// ":" is read again as if it were none; a second ":" says so early, lest a line of many be read for each of them.
void Parser::skip_annotation() {
  const size_t from = at_;
  ++at_;
  size_t level = 0;
  while (!is_end() && (brackets_ > 0 || peek().type != Type::line)) {
    if (level == 0 && (is_sign("=") || is_sign(",") || is_sign(")"))) return;
    if (!in_type_ && (level > deepest_expression || (level == 0 && is_sign(":")))) break;
    if (is_sign("[") || is_sign("(")) ++level;
    if ((is_sign("]") || is_sign(")")) && level > 0) --level;
    ++at_;
  }
  if (!in_type_) at_ = from + 1;
}

// import a.b as c; from a import b as c, d
void Parser::import(Block& block) {
  const bool from = is_name("from");
  ++at_;
  std::string module;
  const auto dotted = [this] {
    std::string name;
    while (peek().type == Type::name || is_sign(".")) {
      if (is_name("import") || is_name("as")) break;
      name += peek().text;
      ++at_;
    }
    return name;
  };
  if (from) {
    module = dotted();
    if (!is_name("import")) return;
    ++at_;
  }
  if (is_sign("(")) open();
  while (!is_line_end() && !is_sign(")")) {
    const size_t before = at_;
    Statement made;
    made.kind = Statement::Kind::import;
    made.span = peek().span;
    made.word = dotted();
    if (is_name("as")) {
      next();
      Expression name;
      name.kind = Expression::Kind::name;
      name.word = peek().text;
      name.span = peek().span;
      made.targets.push_back(std::move(name));
      next();
    }
    if (from && !made.targets.empty()) made.annotated = true;
    made.value.word = module;
    if (!made.word.empty()) block.push_back(std::move(made));
    if (is_sign(",") || at_ == before) next();
  }
  if (!module.empty()) {
    Statement made;
    made.kind = Statement::Kind::import;
    made.word = std::move(module);
    block.push_back(std::move(made));
  }
  if (brackets_ > 0) close(")");
}

Block parse_program(std::string_view text, const std::vector<PythonToken>& tokens) {
  return Parser(text, tokens).program();
}

Expression parse_expression(std::string_view text) {
  const std::vector<PythonToken> tokens = python_tokens(text);
  return Parser(text, tokens).expression(0);
}

}  // namespace plimsoll::exchange::python
