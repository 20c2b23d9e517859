// The parser behind program.h: statements in parse_statements.cpp, expressions in parse_expressions.cpp.
#pragma once

#include <algorithm>
#include <utility>

#include "core/exchange/python/program.h"

namespace plimsoll::exchange::python {

class Parser {
 public:
  Parser(std::string_view text, const std::vector<PythonToken>& tokens) : text_(text), tokens_(tokens) {}

  Block program();
  Expression expression(int depth);

 private:
  using Type = PythonToken::Type;

  const PythonToken& peek(size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  bool is_sign(std::string_view sign, size_t ahead = 0) const {
    return peek(ahead).type == Type::sign && peek(ahead).text == sign;
  }
  bool is_name(std::string_view name, size_t ahead = 0) const {
    return peek(ahead).type == Type::name && peek(ahead).text == name;
  }
  bool is_end() const { return peek().type == Type::end; }
  bool is_line_end() const { return peek().type == Type::line || is_end(); }
  void skip_lines() {
    while (peek().type == Type::line) ++at_;
  }
  /// One token on; between brackets over the ends of lines.
  void next() {
    ++at_;
    if (brackets_ > 0) skip_lines();
  }
  void open() {
    ++brackets_;
    next();
  }
  void close(std::string_view sign);
  bool take(std::string_view sign);
  bool begins_line() const { return at_ == 0 || tokens_[at_ - 1].type == Type::line; }
  size_t column() const;
  Span span_from(size_t token) const;

  // Statements.
  void statement(Block& block, size_t depth);
  bool compound(Statement& made, size_t depth);
  void line(Block& block);
  void simple(Block& block);
  Block body(size_t column, size_t depth);
  void condition(Statement& made, size_t column, size_t depth);
  void loop(Statement& made);
  void with(Statement& made);
  void attempt(Statement& made, size_t column, size_t depth);
  void function(Statement& made);
  void type(Statement& made);
  void import(Block& block);
  void assignment(Block& block, Expression target);
  void skip_annotation();
  std::vector<Expression> names(std::string_view until);

  // Expressions.
  Expression make(Expression::Kind kind, size_t from, std::vector<Expression> parts = {}) const;
  template <typename... Parts>
  Expression of(Expression::Kind kind, size_t from, Parts&&... parts) const {
    Expression made = make(kind, from);
    (made.parts.push_back(std::forward<Parts>(parts)), ...);
    return made;
  }
  Expression other(size_t from);
  Expression either(std::string_view word, int depth);
  Expression negation(int depth);
  Expression comparison(int depth);
  Expression operation(int depth, size_t level);
  Expression sign(int depth);
  Expression postfix(int depth);
  Expression atom(int depth);
  Expression text();
  Expression lambda(int depth);
  Expression bracketed(int depth, std::string_view closing);
  Expression braces(int depth);
  Expression comprehension(Expression item, size_t from, int depth);
  void rest(Expression& read, int depth);
  std::vector<Argument> arguments(int depth);
  std::vector<Argument> parameters(std::string_view closing);
  bool at_keyword() const;

  std::string_view text_;
  const std::vector<PythonToken>& tokens_;
  size_t at_ = 0;
  int brackets_ = 0;
  bool in_type_ = false;  ///< in the body of a class
  // What was tried in vain is not tried again from each of its tokens.
  size_t undecorated_ = 0;  ///< decorators before this token stand before nothing that could have them
  size_t ungiven_ = 0;      ///< names before this token are not given values together
};

}  // namespace plimsoll::exchange::python
