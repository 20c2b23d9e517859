#include "core/exchange/tree_paths.h"

namespace plimsoll::exchange {

using json::Json;

Node* find_path(Node& node, std::string_view path) {
  for (Member& member : node.members) {
    const std::string_view key = member.key;
    if (path == key) return &member.value;
    if (path.size() > key.size() && path.substr(0, key.size()) == key && path[key.size()] == '.') {
      if (Node* found = find_path(member.value, path.substr(key.size() + 1))) return found;
    }
  }
  return nullptr;
}

bool remove_path(Node& node, std::string_view path) {
  for (size_t i = 0; i < node.members.size(); ++i) {
    const std::string_view key = node.members[i].key;
    if (path == key) {
      node.members.erase(node.members.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
    if (path.size() > key.size() && path.substr(0, key.size()) == key && path[key.size()] == '.' &&
        remove_path(node.members[i].value, path.substr(key.size() + 1))) {
      if (node.members[i].value.members.empty())
        node.members.erase(node.members.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
  }
  return false;
}

Node node_of(const Json& value) {
  Node node;
  if (value.is_array()) {
    node.kind = Node::Kind::list;
    for (const Json& item : value) node.items.push_back(node_of(item));
    return node;
  }
  if (value.is_object()) {
    node.kind = Node::Kind::map;
    for (const auto& [key, item] : value.items()) node.members.push_back({key, {}, node_of(item)});
    return node;
  }
  return scalar_node(value, value.is_string() ? value.get<std::string>() : json::write(value),
                     value.is_string(), {});
}

// One value may stand for several keys: an anchor's aliases, a variable of a script.
void replace_span(Node& node, const Span& span, const Node& by) {
  for (Member& member : node.members) {
    if (member.value.span.at == span.at && member.value.span.length == span.length) {
      member.value = by;
    } else {
      replace_span(member.value, span, by);
    }
  }
}

// A value that stands where a block would have to be is somebody's: the name of a DeepSpeed file, a preset's
// name.
bool has_room(const Node& root, std::string_view path) {
  for (const Member& member : root.members) {
    const std::string_view key = member.key;
    if (path.size() <= key.size() || path.substr(0, key.size()) != key || path[key.size()] != '.') continue;
    const Node& value = member.value;
    if (value.is_map()) return has_room(value, path.substr(key.size() + 1));
    return value.is_scalar() && value.value.is_null();
  }
  return true;
}

void plant(Node& root, std::string_view path, const Node& value) {
  Node* place = &root;
  std::string_view rest = path;
  while (true) {
    Member* deeper = nullptr;
    for (Member& member : place->members) {
      const std::string_view key = member.key;
      if (rest.size() > key.size() && rest.substr(0, key.size()) == key && rest[key.size()] == '.')
        deeper = &member;
    }
    if (deeper == nullptr) break;
    rest.remove_prefix(deeper->key.size() + 1);
    if (!deeper->value.is_map()) {
      deeper->value = Node();
      deeper->value.kind = Node::Kind::map;
    }
    place = &deeper->value;
  }
  for (size_t dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
    Node map;
    map.kind = Node::Kind::map;
    place->members.push_back({std::string(rest.substr(0, dot)), {}, std::move(map)});
    place = &place->members.back().value;
    rest.remove_prefix(dot + 1);
  }
  place->members.push_back({std::string(rest), {}, value});
}

}  // namespace plimsoll::exchange
