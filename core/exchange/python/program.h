// A script as a tree of statements and expressions. Whatever is no Python is left out, so that a text with a
// part of a script in it can be read too: a call that was pasted alone, the lines between its brackets.
//
//     Block program = parse_program(text, python_tokens(text));
//     program[0].kind == Statement::Kind::assign    // max_length = 512
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/exchange/python/tokens.h"

namespace plimsoll::exchange::python {

/// Deeper expressions are not read.
constexpr int deepest_expression = 64;
/// a.b.c, a + b + c: each is a step down in the tree.
constexpr int longest_chain = 60;

struct Argument;

struct Expression {
  enum class Kind : uint8_t {
    other,          ///< what is not read; its parts are what was read in it
    number,         ///< word
    text,           ///< word; `formatted`: an f-string
    name,           ///< word
    attribute,      ///< parts[0].word
    call,           ///< parts[0](arguments); `inner` is the brackets and what is between them
    subscript,      ///< parts[0][parts[1]]
    list,           ///< parts, also of a tuple or a set
    dict,           ///< parts: key, value, key, value; a key of kind `other` without a span: **value
    negation,       ///< not parts[0]
    operation,      ///< parts[0] word parts[1]; of one part: a sign before it
    comparison,     ///< parts[0] word parts[1]
    either,         ///< parts joined by "or" or by "and": word
    choice,         ///< parts[0] if parts[1] else parts[2]
    lambda,         ///< arguments are its parameters, parts[0] what it gives
    comprehension,  ///< [parts[0] for parts[1] in parts[2] if parts[3]]; of a dict parts[0] is a list of two
  };
  Kind kind = Kind::other;
  Span span, inner;
  std::string word;
  bool formatted = false;
  bool is_dict = false;  ///< of a comprehension
  std::vector<Expression> parts;
  std::vector<Argument> arguments;
};

/// name=value, value, *value, **value; of a function: a parameter and its default, of kind `other` where it has none.
struct Argument {
  std::string name;  ///< "" by position
  Span span;         ///< of the name
  Expression value;
  std::string type;  ///< of a parameter: its annotation, where that is a name
  size_t stars = 0;
};

struct Statement;
using Block = std::vector<Statement>;

struct Statement {
  enum class Kind : uint8_t {
    expression,  ///< value
    assign,      ///< targets = value; `word` is the operator of "+=" and its like
    condition,   ///< if value: body, else: otherwise
    loop,        ///< for targets[0] in value: body
    repeat,      ///< while value: body
    with,        ///< with arguments, their names in targets: body
    attempt,     ///< try: body, except: otherwise
    function,    ///< def word(arguments): body
    type,        ///< class word(arguments): body
    result,      ///< return value
    leave,       ///< break, continue: word
    import,      ///< word: module or name, targets: what it is called here, value.word: the name's module
    global,      ///< targets: names of the outermost scope
  };
  Kind kind = Kind::expression;
  std::string word;
  Span span;               ///< of the word
  bool annotated = false;  ///< name: type = value
  std::vector<Expression> targets;
  Expression value;
  std::vector<Argument> arguments;
  std::vector<Expression> decorators;
  Block body, otherwise;
  bool trains = false;  ///< a trainer, its arguments, .train() or a backward is written in it
};

Block parse_program(std::string_view text, const std::vector<PythonToken>& tokens);

/// The expression that a text begins with: between the braces of an f-string.
Expression parse_expression(std::string_view text);

}  // namespace plimsoll::exchange::python
