// Places in a configuration by their dotted path, whose parts may themselves hold dots.
//
//     if (Node* node = find_path(root, "trl.vllm.mode")) ...
//     plant(root, "training.packing", node_of(true));
#pragma once

#include <string_view>

#include "core/exchange/tree.h"
#include "core/json/json.h"

namespace plimsoll::exchange {

/// Null: it is not there.
Node* find_path(Node& node, std::string_view path);
/// Maps that become empty go too; false: it was not there.
bool remove_path(Node& node, std::string_view path);
/// Whether a value may be planted there without taking the place of another.
bool has_room(const Node& root, std::string_view path);
/// Puts a value there, with the maps that it needs.
void plant(Node& root, std::string_view path, const Node& value);

Node node_of(const json::Json& value);

/// Replaces every value that stands at this span of the text.
void replace_span(Node& node, const Span& span, const Node& by);

}  // namespace plimsoll::exchange
