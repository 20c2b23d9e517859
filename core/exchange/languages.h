// The readers of each language; read_text() in tree.h picks one.
#pragma once

#include "core/exchange/tree.h"

namespace plimsoll::exchange {

/// Strict JSON (core/json), with the place of every value.
Document read_json(std::string_view text);

/// Settings in Python source: calls with keyword arguments, assignments, dict literals. Nothing is executed;
/// what is not a literal, a known name or a dotted name is kept as text and marked opaque. The root is a map:
/// a call is a member whose value is a map with `call` set (positional arguments are "0", "1", ...), an
/// assignment of a literal is a member of its name.
/// `command`: the root of the command that starts it, or null: its own flags have their defaults then.
/// A flag of it that a script took is the member "$told_NAME".
inline const std::string taken_flag = "$told_";
Document read_python(std::string_view text, const Node* command = nullptr);

/// A command line: flags are members without their dashes, variables before the command are "$NAME", and
/// the words that are not flags are the list "$words".
Document read_shell(std::string_view text);

/// A share link, or its fragment.
Document read_link(std::string_view text);

}  // namespace plimsoll::exchange
