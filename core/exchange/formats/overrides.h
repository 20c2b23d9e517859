// Hydra's and OmegaConf's words on a command line: dataset.packed=True.
#pragma once

#include <string_view>

#include "core/exchange/tree.h"

namespace plimsoll::exchange {

/// The member `key` of a map, added where there is none.
Node& member_of(Node& map, const std::string& key, Span key_span);

/// Puts "a.b=value" into `root` as a member of a member; "+a.b=value", which adds a key, likewise. `word` has
/// an equals sign.
void add_override(Node& root, const Node& word);

}  // namespace plimsoll::exchange
