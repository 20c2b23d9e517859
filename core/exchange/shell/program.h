// What a script of the shell says to do, before it is followed (run.h).
//
//     if [ "$STAGE" = sft ]; then torchrun train.py --bf16; else echo done; fi
//
// is one statement, Kind::choice, with three blocks: the condition, what is done then, and else.
#pragma once

#include <memory>
#include <vector>

#include "core/exchange/shell/text.h"

namespace plimsoll::exchange::shell {

struct Statement;
using Block = std::vector<Statement>;

struct Statement {
  enum class Kind : uint8_t {
    simple,    ///< words
    group,     ///< { ... } and ( ... )
    choice,    ///< if: a condition and what is done then, in turns; of an odd number the last is else
    loop,      ///< for: the variable and what it goes through; without words, for ((...))
    repeat,    ///< while, until: the condition, then what is done
    select,    ///< case: the word; of each block the patterns
    function,  ///< the name
  };
  enum class Join : uint8_t { next, both, either, pipe };  ///< to the statement before: ; && || |
  Kind kind = Kind::simple;
  Join join = Join::next;
  bool negated = false;
  std::vector<Text> words;  ///< as they are written, quotes and all
  Text counts;              ///< of for ((i = 0; i < 2; i++)) what stands between the brackets
  std::vector<Block> blocks;
  std::vector<std::vector<Text>> patterns;
  std::shared_ptr<Text> document;  ///< what stands behind <<EOF
  bool literal = false;            ///< <<'EOF': its variables stay
  Text target;                     ///< the file that output goes to
};

/// Never fails: what closes nothing is passed over, what is not closed ends with the text. A line that begins with a
/// flag goes on with the command above it, as in a paste that lost its backslashes.
Block parse(const Text& script);

/// ; | & ( ) < > and the end of a line.
bool is_sign(char c);
/// Behind "<your model>", which opens no file; `at` where that is none.
size_t behind_placeholder(std::string_view text, size_t at);

/// One word from `at` on, which is moved behind it: up to a blank or a sign of the shell that stands outside quotes.
Text take_word(const Text& script, size_t& at);

/// Behind what a "(" at `at` - 1 opens, quotes heeded; the end of the text where nothing closes it.
size_t behind_brackets(std::string_view text, size_t at);
/// The same of "${"; 0 where nothing closes it within what a variable can be.
size_t behind_braces(std::string_view text, size_t at);

}  // namespace plimsoll::exchange::shell
