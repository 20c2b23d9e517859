// A script of the shell, followed as the shell would; nothing is started.
//
//     const Followed run = follow(script, {{"SLURM_NNODES", "2"}});
//     for (const Word& word : run.command) print(word.text.characters);    // torchrun --nproc_per_node 8 train.py ...
//     for (const Assigned& one : run.variables) print(one.name);           // what was set before it
//
// Of several commands it is the one that trains, by what it says. A condition that the script does not settle is
// followed both ways; a loop goes round for what it names; a function runs with what it is given.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/exchange/shell/words.h"

namespace plimsoll::exchange::shell {

struct Assigned {
  std::string name;
  Span name_span;
  Word value;
};

struct Followed {
  std::vector<Assigned> variables;
  std::vector<Word> command;
  std::vector<std::pair<std::string, Text>> files;  ///< that it writes itself: cat > ds.json <<EOF
};

/// Bounded by steps, never by time: what goes on beyond them ends there.
Followed follow(std::string_view script, const std::vector<std::pair<std::string, std::string>>& given);

}  // namespace plimsoll::exchange::shell
