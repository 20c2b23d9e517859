// Follows a script as Python would, as far as its own text settles what happens: functions with what they are
// given, classes, dicts, flags of its command line with their defaults, conditions. Code of somebody else is
// never run: a call of it becomes a member of the document, in the order of the run.
//
//     Document document;
//     Interpreter(text, document).run(parse_program(text, python_tokens(text)));
//
// Where a condition is not known both its blocks are followed, the first for what both set. What did not run
// is followed last, and only where nothing that ran trains: a library of functions is read as well as a script.
//
// Statements are in run.cpp, expressions in evaluate.cpp, operators in operators.cpp, the script's own functions
// and classes in functions.cpp, attributes and methods of its values in attributes.cpp, what is known of other
// code in library.cpp, flags in flags.cpp.
#pragma once

#include <set>

#include "core/exchange/python/value.h"

namespace plimsoll::exchange::python {

/// Expressions that are evaluated, and how deep calls and expressions may lie in one another: a script may
/// loop, and a short one may call itself.
constexpr size_t most_members = 20'000, most_parameters = 500;
constexpr size_t most_calls = 100;  ///< of one function
constexpr size_t most_steps = 100'000, deepest_run = 150;

class Interpreter {
 public:
  /// `command`: that starts the script, see read_python.
  Interpreter(std::string_view text, Document& document, const Node* command = nullptr)
      : text_(text), document_(document), command_(command) {}

  void run(const Block& program);

 private:
  enum class Flow : uint8_t { on, result, leave, next };
  struct Deferred {
    const Block* block;
    Scope* scope;
  };
  /// A function that runs.
  struct Frame {
    Value result;
    bool has_result = false;
    Value self;
    Object* type = nullptr;  ///< whose method it is
    const Statement* statement = nullptr;
  };

  // Statements.
  Flow run(const Block& block, Scope& scope);
  Flow run(const Statement& made, Scope& scope);
  Flow condition(const Statement& made, Scope& scope);
  void unsure(const Block& likely, const Block& other, Scope& scope);
  Flow loop(const Statement& made, Scope& scope);
  Flow result(const Statement& made, Scope& scope);
  void define(const Statement& made, Scope& scope);
  void assignment(const Statement& made, Scope& scope);
  void import(const Statement& made, Scope& scope);
  void what_did_not_run();
  void run_methods(Object& instance);
  void assign(const Expression& target, Value value, Scope& scope);
  void assign_name(const Expression& target, Value value, Scope& scope);
  void assign_attribute(const Expression& target, const Value& value, Scope& scope);
  void assign_subscript(const Expression& target, const Value& value, Scope& scope);
  void unpack(const Expression& target, const Value& value, Scope& scope);
  bool keeps(const Value* old, const Value& value) const;
  void tell(const std::string& name, Span span, const Value& value);
  Node written(const Value& value);

  // Expressions.
  Value evaluate(const Expression& e, Scope& scope);
  Value evaluate_kind(const Expression& e, Scope& scope);
  Value text(const Expression& e, Scope& scope);
  std::optional<std::string> formatted(std::string_view text, Scope& scope);
  Value name(const Expression& e, Scope& scope);
  Value attribute(const Expression& e, Scope& scope);
  Value subscript(const Expression& e, Scope& scope);
  Value list(const Expression& e, Scope& scope);
  Value dict(const Expression& e, Scope& scope);
  Value choice(const Expression& e, Scope& scope);
  Value comprehension(const Expression& e, Scope& scope);
  Value lambda(const Expression& e, Scope& scope);
  Value opaque(const Expression& e) const;
  std::optional<bool> holds(const Expression& e, Scope& scope);
  std::optional<bool> holds(const Expression& e, const Value& value);
  Value flag(bool on, const Expression& e) const;

  // Operators.
  Value operation(const Expression& e, Scope& scope);
  Value comparison(const Expression& e, Scope& scope);
  Value either(const Expression& e, Scope& scope);

  // Calls.
  Value call(const Expression& e, Scope& scope);
  Object* arguments(const Expression& e, Scope& scope);
  Value foreign(const std::string& name, const Expression& e, Object* given);
  void hand_over(const Object& given);
  void tell_card();
  std::string callee(const Expression& e, Scope& scope);
  Value call_function(const Value& function, const Object& given);
  void bind(const std::vector<Argument>& parameters, const Object& given, const Object& function,
            Scope& scope);
  Value make_instance(const Value& type, Object* given, const Expression& e);
  std::optional<Value> instance_of(const std::string& type, Scope& scope);
  void fill_fields(const Object& type, Object& instance);
  Value super_call(const Expression& e, Scope& scope);
  Value define_type(const Statement& made, Scope& scope);

  // Attributes and methods.
  std::optional<Value> attribute_of(const Value& owner, const std::string& name);
  std::optional<Value> member_of_type(Object& type, const std::string& name, const Value& self);
  std::optional<Value> elsewhere(const std::string& owner, const std::string& name);
  std::optional<Value> method(const Value& owner, const std::string& name, const Object& given,
                              const Expression& e);
  std::optional<Value> method_of_map(Object& map, const std::string& name, const Object& given);
  std::optional<Value> method_of_list(Object& list, const std::string& name, const Object& given);
  std::optional<Value> method_of_text(const Value& text, const std::string& name, const Object& given);
  std::optional<std::vector<Value>> items_of(const Value& value);
  Value list_of(std::vector<Value> items, Span span = {});

  // Code of others.
  std::optional<Value> known(const std::string& name, const Expression& e, Object* given);
  std::optional<Value> known_value(const std::string& name, const Expression& e, Object* given);
  std::optional<Value> converted(const std::string& name, const Object& given);
  std::optional<Value> counted(const std::string& name, const Object& given, const Expression& e);
  std::optional<Value> as_map(const std::string& name, const Object& given);
  Value map_of(std::vector<Entry> entries, Span span);
  std::optional<Value> parsed(const std::string& name, const Object& given, const Value& owner);
  void add_flag(const Object& given);
  Value flags();
  std::optional<Value> from_command(const std::string& name);
  void note_taken(const std::string& flag);
  void add_from_command(const Object& type, Object& given);
  void note_flag(const std::string& flag, Span span);

  std::string_view text_;
  Document& document_;
  const Node* command_;
  Objects objects_;
  std::deque<Expression> parsed_;  ///< what is evaluated and stands nowhere in the program
  Scope* globals_ = nullptr;
  Object* flags_ = nullptr;
  std::vector<Frame> frames_;
  std::vector<Deferred> deferred_;
  std::vector<Object*> functions_, types_, instances_;
  std::map<const Statement*, size_t> ran_;   ///< how often functions were called
  std::map<const Statement*, Value> cards_;  ///< that decorators give functions and classes
  std::set<uint64_t> places_;                ///< of the calls in what runs
  std::vector<Member> flag_members_;
  std::set<std::pair<const Scope*, std::string>>* assigned_ = nullptr;       ///< by the block that runs
  const std::set<std::pair<const Scope*, std::string>>* settled_ = nullptr;  ///< by the block beside it
  size_t steps_ = 0, depth_ = 0;
  int unsure_ = 0;  ///< inside blocks that may not run
  bool trains_ = false;
  bool unnamed_runs_ = false;  ///< what nothing calls
  bool guessed_ = false;       ///< whether a condition was answered by what is likely
  bool quiet_ = false;         ///< in an f-string: its places are not those of the text
};

/// "transformers.Trainer" of "transformers.Trainer", "map" of data["train"].map: the names that lead to a call.
std::string dotted(const Expression& e);
inline std::string last_of(const std::string& name) { return name.substr(name.rfind('.') + 1); }

}  // namespace plimsoll::exchange::python
