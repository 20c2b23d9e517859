// A word of a command, its variables put in, and what it is to the command that it stands in.
#pragma once

#include "core/exchange/shell/text.h"

namespace plimsoll::exchange::shell {

struct Word {
  Text text;  ///< without its quotes
  Span span;  ///< where it stands; of a variable alone, where that was set
  bool quoted = false;
  bool opens_quoted = false;  ///< "..." from its first character: no flag, as --key="value" is

  bool is(std::string_view other) const { return !quoted && text.characters == other; }
};

/// "--key", "--key=value", "-k"; no number below zero.
bool is_flag(const Word& word);
/// Programs whose flags are theirs alone.
bool is_tool(const Word& word);
/// What a tool may start in its turn: "docker run image python train.py".
bool is_launcher(const Word& word);
/// What trains, or starts what does.
bool is_program(const Word& word);
/// A name of any of the three below, or of what starts another command and leaves it as it is: "time", "poetry", "docker".
bool starts_another(std::string_view program);
/// "docker run image", whose own flags stand before the image: only what starts in it is of the training.
bool is_container(const Word& word);
/// "mpirun -np 8": only the number of processes is of the training.
bool is_mpi(const Word& word);
/// How many words at the front start what follows them and leave it as it is: "poetry run", "uvx --from trl"; 0 none.
size_t wrapper_at_front(const std::vector<Word>& words);
/// A launcher's flag that one word follows: what stands behind that is the script, of whatever name.
bool takes_one_value(const Word& flag);
/// What only precedes a command: its variables may follow.
bool is_prefix(const Word& word);
/// NAME=value, NAME+=value, NAME[key]=value: where the sign stands.
std::optional<size_t> assignment(std::string_view text);

}  // namespace plimsoll::exchange::shell
