// The state of a script that is followed (follow.h): statements in follow.cpp, words in expand.cpp, variables in
// parameters.cpp, tests in conditions.cpp, commands that the shell or every system has in builtins.cpp.
#pragma once

#include <map>
#include <memory>

#include "core/exchange/shell/follow.h"
#include "core/exchange/shell/program.h"

namespace plimsoll::exchange::shell {

/// A scalar has one item, "0".
struct Variable {
  std::vector<std::pair<std::string, Text>> items;
  bool list = false;
  Span name_span, span;
  bool quoted = false;
};

/// A word that is being put together.
struct Field {
  Text text;
  bool present = false, quoted = false, opens_quoted = false, expanded = false;
};

/// What a text in $ or ${} stands for.
struct Expansion {
  size_t end = 0;  ///< behind it
  bool known = false;
  bool several = false;  ///< "${LIST[@]}": a word each
  std::vector<Text> items;
};

/// Whether a command went well, where that is known.
using Status = std::optional<bool>;

class Interpreter {
 public:
  explicit Interpreter(const std::vector<std::pair<std::string, std::string>>& given);
  void run_script(std::string_view script);
  Followed followed() const;

 private:
  enum class Flow : uint8_t { on, next_round, out_of_loop, out_of_function, end };

  // follow.cpp
  Status run(const Block& block);
  Status run(const Statement& statement);
  Status run_choice(const Statement& statement);
  Status run_loop(const Statement& statement);
  Status run_repeat(const Statement& statement);
  Status run_select(const Statement& statement);
  Status run_simple(const Statement& statement);
  Status run_words(std::vector<Word> words);
  void hand_document(const Statement& statement, const std::vector<Word>& words);
  void run_text(const Text& script);
  void set_variable(const std::string& name, Variable made);
  Status call(const Block& body, std::vector<Text> arguments);
  void run_uncertain(const Block& block);
  bool round(const Block& body);
  void keep(std::vector<Word> words);
  std::vector<Assigned> assigned() const;
  bool spend(size_t steps);

  // expand.cpp
  std::vector<Word> words_of(const Text& written);
  Text value_of(const Text& written);
  void put(const Text& written, bool in_quotes, bool split, std::vector<Field>& fields);
  size_t put_quoted(const Text& written, size_t at, bool split, std::vector<Field>& fields);
  Span span_of(const Text& text, Span otherwise) const;
  Text captured(const Text& script, bool& known);

  // parameters.cpp
  Expansion expand(const Text& written, size_t at);
  Expansion parameter(const Text& written, size_t at);
  Expansion braced(const Text& written, size_t at);
  Expansion keys_of(const std::string& name, size_t end) const;
  Expansion held(std::string_view name, const std::string& index) const;
  std::optional<Text> changed(const Expansion& held, const Text& how);
  std::optional<std::string> number_of(std::string_view name) const;
  bool reads_as_empty(std::string_view name) const;
  bool assign(const Text& written);
  void read_list(const Text& inside, Variable& made);

  // conditions.cpp
  Status test(const std::vector<Text>& words);
  Status joined(const std::vector<std::string>& words, size_t& at, bool any);
  Status one(const std::vector<std::string>& words, size_t& at);

  // builtins.cpp
  using Builtin = Status (Interpreter::*)(const std::vector<Word>& words);
  static Builtin builtin(std::string_view name);
  Status declare(const std::vector<Word>& words);
  Status unset(const std::vector<Word>& words);
  Status shift(const std::vector<Word>& words);
  Status set(const std::vector<Word>& words);
  Status echo(const std::vector<Word>& words);
  Status evaluate(const std::vector<Word>& words);
  Status leave(const std::vector<Word>& words);
  Status yes(const std::vector<Word>& words);
  Status no(const std::vector<Word>& words);
  Status base_name(const std::vector<Word>& words);
  Status folder(const std::vector<Word>& words);
  Status sum(const std::vector<Word>& words);
  Status sequence(const std::vector<Word>& words);
  Status translate(const std::vector<Word>& words);
  Status count(const std::vector<Word>& words);
  Status fields(const std::vector<Word>& words);
  Status show(const std::vector<Word>& words);
  Status read(const std::vector<Word>& words);
  void say(const Text& text);

  std::string_view script_;
  std::map<std::string, Variable> variables_;
  std::vector<std::string> order_;  ///< of the variables that the script sets
  std::map<std::string, std::shared_ptr<const Block>> functions_;
  std::vector<Text> arguments_;
  bool has_arguments_ = false;  ///< in a function, and behind `set --`
  std::vector<Word> prefix_;    ///< what starts "bash -c"
  std::vector<Word> best_;
  static constexpr int trains = 5;  ///< weight of a command that does, in all likelihood
  int best_weight_ = -1000;
  std::vector<Assigned> before_;
  std::vector<std::pair<std::string, Text>> files_;
  Flow flow_ = Flow::on;
  int uncertain_ = 0, depth_ = 0, calls_ = 0;
  bool unset_is_empty_ = false;  ///< in a test, for it is a fresh shell's
  size_t steps_ = 0;
  bool capturing_ = false, lost_ = false;  ///< in $(...); whether something was printed that nobody knows
  Text printed_, piped_;
};

/// * and ?, as of case and ${NAME##*/}.
bool matches(std::string_view pattern, std::string_view text);

}  // namespace plimsoll::exchange::shell
