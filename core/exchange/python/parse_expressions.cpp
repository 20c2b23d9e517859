// Expressions of a script, by the precedence of its operators.
#include "core/exchange/python/parser.h"

namespace plimsoll::exchange::python {

namespace {

constexpr std::string_view keywords[] = {"if",  "else", "for",    "in",     "is",    "and",   "or",  "not",
                                         "def", "as",   "return", "import", "while", "class", "elif"};

// From the weakest on.
constexpr std::string_view operators[][5] = {{"|", "&", "^"}, {"+", "-"}, {"*", "/", "//", "%", "@"}, {"**"}};

}  // namespace

Span Parser::span_from(size_t token) const {
  size_t last = at_ > token ? at_ - 1 : token;
  while (last > token && tokens_[last].type == Type::line) --last;
  const size_t begin = tokens_[token].span.at;
  return {begin, tokens_[last].span.at + tokens_[last].span.length - begin};
}

Expression Parser::make(Expression::Kind kind, size_t from, std::vector<Expression> parts) const {
  Expression made;
  made.kind = kind;
  made.span = span_from(from);
  made.parts = std::move(parts);
  return made;
}

// What stands here up to the next comma, bracket or line.
Expression Parser::other(size_t from) {
  Expression made = make(Expression::Kind::other, from);
  if (at_ == from) made.span.length = 0;
  return made;
}

bool Parser::at_keyword() const {
  return peek().type == Type::name &&
         std::find(std::begin(keywords), std::end(keywords), peek().text) != std::end(keywords);
}

bool Parser::take(std::string_view sign) {
  if (!is_sign(sign)) return false;
  next();
  return true;
}

void Parser::close(std::string_view sign) {
  --brackets_;
  if (is_sign(sign)) next();
}

Expression Parser::expression(int depth) {
  const size_t from = at_;
  if (depth > deepest_expression) return other(from);
  if (is_name("lambda")) return lambda(depth);
  Expression value = either("or", depth);
  if (!is_name("if")) return value;
  next();
  Expression condition = either("or", depth + 1);
  if (!is_name("else")) return of(Expression::Kind::other, from, std::move(value), std::move(condition));
  next();
  Expression otherwise = expression(depth + 1);
  return of(Expression::Kind::choice, from, std::move(value), std::move(condition), std::move(otherwise));
}

Expression Parser::either(std::string_view word, int depth) {
  const size_t from = at_;
  const auto side = [&] { return word == "or" ? either("and", depth) : negation(depth); };
  Expression value = side();
  if (!is_name(word)) return value;
  std::vector<Expression> parts;
  parts.push_back(std::move(value));
  while (is_name(word)) {
    next();
    parts.push_back(side());
  }
  Expression made = make(Expression::Kind::either, from, std::move(parts));
  made.word = word;
  return made;
}

Expression Parser::negation(int depth) {
  const size_t from = at_;
  if (!is_name("not") || depth > deepest_expression) return comparison(depth);
  next();
  Expression value = negation(depth + 1);
  return of(Expression::Kind::negation, from, std::move(value));
}

Expression Parser::comparison(int depth) {
  const size_t from = at_;
  Expression left = operation(depth, 0);
  std::string word;
  if (peek().type == Type::sign) word = peek().text;
  if (is_name("is")) word = is_name("not", 1) ? "is not" : "is";
  if (is_name("in")) word = "in";
  if (is_name("not") && is_name("in", 1)) word = "not in";
  constexpr std::string_view known[] = {"==", "!=", "<", ">", "<=", ">=", "is", "is not", "in", "not in"};
  if (std::find(std::begin(known), std::end(known), word) == std::end(known)) return left;
  next();
  if (word == "is not" || word == "not in") next();
  Expression right = operation(depth + 1, 0);
  Expression made = of(Expression::Kind::comparison, from, std::move(left), std::move(right));
  made.word = word;
  return made;
}

Expression Parser::operation(int depth, size_t level) {
  const size_t from = at_;
  if (level == std::size(operators)) return sign(depth);
  Expression left = operation(depth, level + 1);
  const auto& signs = operators[level];
  int chain = 0;
  while (++chain < longest_chain && peek().type == Type::sign && !is_sign("=", 1) &&
         std::find(std::begin(signs), std::end(signs), peek().text) != std::end(signs)) {
    const std::string word = peek().text;
    next();
    Expression right = operation(depth + 1, word == "**" ? level : level + 1);
    left = of(Expression::Kind::operation, from, std::move(left), std::move(right));
    left.word = word;
  }
  return left;
}

Expression Parser::sign(int depth) {
  const size_t from = at_;
  if (is_name("await") || is_name("yield")) next();
  if (!(is_sign("-") || is_sign("+") || is_sign("~")) || depth > deepest_expression) return postfix(depth);
  const std::string word = peek().text;
  next();
  Expression value = sign(depth + 1);
  Expression made = of(Expression::Kind::operation, from, std::move(value));
  made.word = word;
  return made;
}

Expression Parser::postfix(int depth) {
  const size_t from = at_;
  Expression value = atom(depth);
  int chain = 0;
  while (++chain < longest_chain &&
         (value.kind != Expression::Kind::other || !value.parts.empty() || at_ > from)) {
    if (is_sign(".") && peek(1).type == Type::name) {
      next();
      const std::string word = peek().text;
      next();
      value = of(Expression::Kind::attribute, from, std::move(value));
      value.word = word;
    } else if (is_sign("(")) {
      const size_t bracket = at_;
      std::vector<Argument> given = arguments(depth);
      value = of(Expression::Kind::call, from, std::move(value));
      value.arguments = std::move(given);
      value.inner = span_from(bracket);
    } else if (is_sign("[")) {
      Expression key = bracketed(depth, "]");
      if (key.parts.size() == 1) key = Expression(std::move(key.parts[0]));
      value = of(Expression::Kind::subscript, from, std::move(value), std::move(key));
    } else {
      break;
    }
  }
  return value;
}

Expression Parser::atom(int depth) {
  const size_t from = at_;
  if (depth > deepest_expression) return other(from);
  if (peek().type == Type::text) return text();
  if (is_sign("(")) return bracketed(depth, ")");
  if (is_sign("[")) return bracketed(depth, "]");
  if (is_sign("{")) return braces(depth);
  const bool number = peek().type == Type::number;
  if ((!number && peek().type != Type::name) || at_keyword()) return other(from);
  const std::string word = peek().text;
  next();
  Expression made = make(number ? Expression::Kind::number : Expression::Kind::name, from);
  made.word = word;
  return made;
}

// Strings that follow one another are one string.
Expression Parser::text() {
  const size_t from = at_;
  std::string word;
  bool formatted = false;
  while (peek().type == Type::text) {
    word += peek().text;
    formatted = formatted || peek().formatted;
    next();
  }
  Expression made = make(Expression::Kind::text, from);
  made.word = std::move(word);
  made.formatted = formatted;
  return made;
}

Expression Parser::lambda(int depth) {
  const size_t from = at_;
  next();
  std::vector<Argument> taken = parameters(":");
  if (!is_sign(":")) return other(from);
  next();
  Expression value = expression(depth + 1);
  Expression made = of(Expression::Kind::lambda, from, std::move(value));
  made.arguments = std::move(taken);
  return made;
}

// Behind an expression that is not followed by what may follow one: what else stands before the next comma.
void Parser::rest(Expression& read, int depth) {
  const size_t from = at_;
  bool more = false;
  while (!is_line_end() && !is_sign(",") && !is_sign(")") && !is_sign("]") && !is_sign("}")) {
    const size_t before = at_;
    Expression part = depth < deepest_expression ? expression(depth + 1) : other(at_);
    if (!more) {
      Expression first = std::move(read);
      read = Expression();
      read.span = first.span;
      read.parts.push_back(std::move(first));
    }
    read.parts.push_back(std::move(part));
    more = true;
    if (at_ == before) next();
  }
  if (!more) return;
  const Span span = span_from(from);
  read.kind = Expression::Kind::other;
  read.span.length = span.at + span.length - read.span.at;
}

// At "(" or "[": a tuple, a list, what stands between brackets, the key of a subscript.
Expression Parser::bracketed(int depth, std::string_view closing) {
  const size_t from = at_;
  open();
  std::vector<Expression> items;
  bool comma = false;
  while (!is_end() && !is_sign(closing)) {
    const size_t before = at_;
    if (take(",")) {
      comma = true;
      continue;
    }
    while (is_sign(":")) next();
    const bool spread = take("*");
    Expression item = expression(depth + 1);
    if (spread) {
      item = of(Expression::Kind::operation, before, std::move(item));
      item.word = "*";
    }
    if (is_name("for")) return comprehension(std::move(item), from, depth);
    rest(item, depth);
    if (item.span.length > 0) items.push_back(std::move(item));
    if (at_ == before) next();
  }
  close(closing);
  if (closing == ")" && !comma && items.size() == 1) {
    Expression only = std::move(items[0]);
    return only;
  }
  return make(Expression::Kind::list, from, std::move(items));
}

// At "{": a dict or a set.
Expression Parser::braces(int depth) {
  const size_t from = at_;
  open();
  std::vector<Expression> parts;
  bool pairs = false;
  while (!is_end() && !is_sign("}")) {
    const size_t before = at_;
    if (take(",")) continue;
    const bool spread = take("**");
    Expression key = spread ? Expression() : expression(depth + 1);
    if (spread || is_sign(":")) {
      pairs = true;
      if (!spread) next();
      Expression value = expression(depth + 1);
      if (is_name("for")) {
        Expression pair = of(Expression::Kind::list, from, std::move(key), std::move(value));
        Expression made = comprehension(std::move(pair), from, depth);
        made.is_dict = true;
        return made;
      }
      rest(value, depth);
      parts.push_back(std::move(key));
      parts.push_back(std::move(value));
    } else if (is_name("for")) {
      return comprehension(std::move(key), from, depth);
    } else if (!pairs) {
      rest(key, depth);
      parts.push_back(std::move(key));
    }
    if (at_ == before) next();
  }
  close("}");
  return make(pairs || parts.empty() ? Expression::Kind::dict : Expression::Kind::list, from,
              std::move(parts));
}

// At "for" behind the item of a bracket that began at `from`; of several loops the first.
Expression Parser::comprehension(Expression item, size_t from, int depth) {
  next();
  std::vector<Expression> targets;
  while (!is_end() && !is_name("in") && !is_sign(")") && !is_sign("]") && !is_sign("}")) {
    const size_t before = at_;
    Expression target = postfix(depth + 1);
    if (target.kind == Expression::Kind::list) targets = std::move(target.parts);
    if (target.kind == Expression::Kind::name) targets.push_back(std::move(target));
    if (is_sign(",") || at_ == before) next();
  }
  if (is_name("in")) next();
  Expression in = either("or", depth + 1), when;
  if (is_name("if")) {
    next();
    when = either("or", depth + 1);
  }
  const auto ends = [this] { return is_end() || is_sign(")") || is_sign("]") || is_sign("}"); };
  while (!ends()) {
    const size_t before = at_;
    (void)expression(depth + 1);
    if (at_ == before) next();
  }
  close(is_end() ? "" : peek().text);
  Expression names = make(Expression::Kind::list, from, std::move(targets));
  return of(Expression::Kind::comprehension, from, std::move(item), std::move(names), std::move(in),
            std::move(when));
}

// At "(".
std::vector<Argument> Parser::arguments(int depth) {
  std::vector<Argument> all;
  open();
  while (!is_end() && !is_sign(")")) {
    const size_t before = at_;
    if (take(",")) continue;
    Argument made;
    while (is_sign("*") || is_sign("**")) {
      made.stars = peek().text.size();
      next();
    }
    if (peek().type == Type::name && is_sign("=", 1)) {
      made.name = peek().text;
      made.span = peek().span;
      next();
      next();
    }
    made.value = expression(depth + 1);
    const size_t from = at_;
    if (is_name("for")) {
      made.value = comprehension(std::move(made.value), from, depth);
      all.push_back(std::move(made));
      return all;
    }
    rest(made.value, depth);
    if (made.value.span.length > 0 || !made.name.empty()) all.push_back(std::move(made));
    if (at_ == before) next();
  }
  close(")");
  return all;
}

// Names, annotations and defaults up to the sign.
std::vector<Argument> Parser::parameters(std::string_view closing) {
  std::vector<Argument> all;
  while (!is_end() && !is_sign(closing) && (brackets_ > 0 || !is_line_end())) {
    Argument made;
    while (is_sign("*") || is_sign("**")) {
      made.stars = peek().text.size();
      next();
    }
    if (peek().type != Type::name) {
      next();
      continue;
    }
    made.name = peek().text;
    made.span = peek().span;
    next();
    if (closing == ")" && is_sign(":")) {
      if (peek(1).type == Type::name && (is_sign(")", 2) || is_sign(",", 2))) made.type = peek(1).text;
      skip_annotation();
    }
    if (take("=")) made.value = expression(1);
    all.push_back(std::move(made));
    if (is_sign(",")) next();
  }
  return all;
}

}  // namespace plimsoll::exchange::python
