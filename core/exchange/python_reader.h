// Settings in Python source. A recursive reader of a small part of the grammar: calls, assignments, literals,
// dotted names, conditions that the script itself settles. Whatever else stands there is stepped over;
// nothing is executed.
//
//     PythonNames none, names;
//     Document document;
//     PythonReader(text, tokens, none, names, document).read();
//
// Statements are in python_text.cpp, expressions in python_expression.cpp, calls in python_call.cpp.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/exchange/python_names.h"
#include "core/exchange/python_tokens.h"

namespace plimsoll::exchange {

/// Beyond it a call or an expression is no longer read.
constexpr int deepest_expression = 64;

class PythonReader {
 public:
  /// `before`: what an earlier reading of the same text found.
  PythonReader(std::string_view text, const std::vector<PythonToken>& tokens, const PythonNames& before,
               PythonNames& names, Document& document)
      : text_(text), tokens_(tokens), before_(before), names_(names), document_(document) {}

  void read();
  /// Whether a name was met that stood for nothing.
  bool has_unknown() const { return has_unknown_; }

 private:
  using Type = PythonToken::Type;

  struct Scope {
    size_t column = 0;
    std::string name;
    bool is_class = false;
    bool is_unnamed = false;  ///< a function that nothing in the text names
  };

  const PythonToken& peek(size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  bool is_sign(std::string_view sign, size_t ahead = 0) const {
    return peek(ahead).type == Type::sign && peek(ahead).text == sign;
  }
  bool is_name(std::string_view name, size_t ahead = 0) const {
    return peek(ahead).type == Type::name && peek(ahead).text == name;
  }
  void skip_lines() {
    while (peek().type == Type::line) ++at_;
  }
  void skip_lines_inside(int depth) {
    if (depth > 0) skip_lines();
  }
  Span span_from(size_t token) const;

  // Statements.
  void statement();
  bool begins_line() const;
  size_t column() const;
  void leave_scopes();
  std::string function() const;
  void define_function();
  bool is_decorated(size_t end) const;
  void define_class();
  void skip_annotation();
  void condition();
  void loop();
  void skip_block(size_t column);
  bool trains_in_block(size_t from, size_t to) const;
  void assignment(const std::string& name, Span key_span, bool in_class);
  bool attribute_assignment(const std::string& name, Span key_span, const Node& value);
  bool subscript_assignment(const std::string& name);
  void note_import();
  void note_return();
  void note_unnamed(Span call);

  // Expressions.
  std::string dotted();
  Node arguments(const std::string& name, int depth);
  Node call(const std::string& name, Span key_span, int depth);
  Node known_call(const std::string& name, Node given);
  Node opaque(size_t from, int depth = deepest_expression);
  Node expression(int depth);
  Node choice(int depth);
  Node comparison(int depth);
  Node arithmetic(int depth);
  Node concatenation(Node left, int depth);
  bool at_end() const;
  bool followed_by_choice() const;
  std::optional<double> sum(double left, int depth);
  std::optional<double> product(double left, int depth);
  std::optional<double> operand(int depth);
  Node subscripts(Node value, int depth);
  Node primary(int depth);
  Node text();
  std::optional<std::string> formatted(std::string_view text);
  Node number();
  std::optional<bool> holds(const Node& condition);
  bool is_loaded_data(const std::string& name);
  Node negation(int depth);
  Node lambda(int depth);
  Node named(int depth);
  Node attribute(size_t from, int depth);
  Node list(int depth);
  bool take_spread(Node& node, int depth);
  Node dict(int depth);
  const Node* find(const std::string& name);
  void note_flag(const Node* found, Span span);
  Node flag_node(bool value, size_t from) const;

  std::string_view text_;
  const std::vector<PythonToken>& tokens_;
  const PythonNames& before_;
  PythonNames& names_;
  Document& document_;
  size_t at_ = 0;
  std::vector<Scope> scopes_;
  std::vector<Member> flags_;
  std::vector<Member> unnamed_;
  std::map<std::string_view, size_t> uses_;  ///< how often a name stands in the text
  std::vector<size_t> taken_;                ///< columns of conditions that hold: their else does not
  bool has_unknown_ = false;
};

inline bool is_value(const Node& node) { return node.is_scalar() && !node.opaque; }

inline bool name_ends_with(std::string_view name, std::string_view tail) {
  return name.size() >= tail.size() && name.substr(name.size() - tail.size()) == tail;
}

/// Whether Python takes a value for true; nothing where it is not known.
std::optional<bool> truth_of(const Node& node);

}  // namespace plimsoll::exchange
