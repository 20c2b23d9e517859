// A word of a shell script, and what it is to the command that it stands in.
#pragma once

#include <string>

#include "core/exchange/tree.h"

namespace plimsoll::exchange {

struct Word {
  std::string text;
  Span span;
  bool quoted = false;
  bool verbatim = false;  // in single quotes: nothing in it is a variable
  bool line_start = false;
  bool opens_quoted = false;  // "..." from its first character: no flag, as --key="value" is
};

/// Programs whose flags are theirs alone, and the words of the shell itself.
bool is_tool(const Word& word);
/// What a tool may start in its turn: "docker run image python train.py".
bool is_launcher(const Word& word);
/// A launcher's flag that one word follows: what stands behind that is the script, of whatever name.
bool takes_one_value(const Word& flag);
/// Between two commands.
bool is_separator(const Word& word);
/// "2>&1", ">", ">>log", "&>log": where the output goes is no setting.
bool is_redirection(const Word& word);
/// What only precedes a command: its variables may follow.
bool is_prefix(const Word& word);

}  // namespace plimsoll::exchange
