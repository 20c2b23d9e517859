#include "core/exchange/formats/overrides.h"

#include <algorithm>

#include "core/exchange/scalar.h"

namespace plimsoll::exchange {

Node& member_of(Node& map, const std::string& key, Span key_span) {
  for (Member& member : map.members) {
    if (member.key == key) return member.value;
  }
  map.kind = Node::Kind::map;
  map.members.push_back({key, key_span, Node()});
  return map.members.back().value;
}

void add_override(Node& root, const Node& word) {
  const size_t equals = word.raw.find('=');
  Node* place = &root;
  for (size_t at = std::min(word.raw.find_first_not_of('+'), equals); at <= equals;) {
    const size_t dot = std::min(word.raw.find('.', at), equals);
    place = &member_of(*place, word.raw.substr(at, dot - at), {word.span.at, equals});
    at = dot + 1;
  }
  const std::string value = word.raw.substr(equals + 1);
  *place = yaml_scalar(value, !word.quoted, {word.span.at + equals + 1, value.size()});
}

}  // namespace plimsoll::exchange
