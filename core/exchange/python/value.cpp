#include "core/exchange/python/value.h"

#include <algorithm>

namespace plimsoll::exchange::python {

namespace {

constexpr size_t most_makers = 16;

// `left`: attributes that are looked at, as an instance may hold itself.
void add_makers(const Object* object, std::vector<size_t>& makers, size_t& left) {
  if (object == nullptr || left == 0 || makers.size() >= most_makers) return;
  --left;
  if (object->member != 0) {
    makers.push_back(object->member);
  } else if (object->kind == Object::Kind::call) {
    const size_t room = std::min(object->from.size(), most_makers - makers.size());
    makers.insert(makers.end(), object->from.begin(),
                  object->from.begin() + static_cast<std::ptrdiff_t>(room));
  } else if (object->kind == Object::Kind::function) {
    add_makers(object->result, makers, left);
  } else if (object->kind == Object::Kind::instance) {
    for (const Entry& entry : object->entries) add_makers(entry.value.object, makers, left);
  }
}

// "a = [a, a]", line after line, is a short text: what is written has `left` parts at most.
bool fill(const Value& value, Node& node, size_t& left);

bool fill_members(const Object& object, Node& node, size_t& left) {
  node.kind = Node::Kind::map;
  node.span = object.span;
  for (const Entry& entry : object.entries) {
    node.members.push_back({entry.key, entry.key_span, Node()});
    if (!fill(entry.value, node.members.back().value, left)) return false;
  }
  return true;
}

bool fill(const Value& value, Node& node, size_t& left) {
  if (left == 0) return false;
  --left;
  const Object* object = value.object;
  if (object == nullptr) {
    node = value.node;
    return true;
  }
  if (object->kind == Object::Kind::list) {
    node.kind = Node::Kind::list;
    node.span = object->span;
    for (const Value& item : object->items) {
      node.items.emplace_back();
      if (!fill(item, node.items.back(), left)) return false;
    }
    return true;
  }
  // A name that stands for a call is not the call.
  const bool called = object->kind == Object::Kind::call && value.node.raw.empty();
  if (object->kind == Object::Kind::map || called) {
    node.call = object->kind == Object::Kind::call ? object->name : "";
    node.made_by = made_by(value);
    return fill_members(*object, node, left);
  }
  node = unknown(value.node.raw, value.node.span).node;
  node.made_by = made_by(value);
  return true;
}

}  // namespace

std::vector<size_t> made_by(const Value& value) {
  size_t left = 100;
  std::vector<size_t> makers;
  add_makers(value.object, makers, left);
  return makers;
}

const Entry* find(const Object& object, std::string_view key) {
  for (const Entry& entry : object.entries) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

void set(Object& object, Entry entry) {
  for (Entry& old : object.entries) {
    if (old.key != entry.key) continue;
    old = std::move(entry);
    return;
  }
  if (object.entries.size() < most_parts) object.entries.push_back(std::move(entry));
}

Value unknown(std::string_view text, Span span) {
  Value value{scalar_node(nullptr, std::string(text), false, span)};
  value.node.opaque = true;
  return value;
}

Node to_node(const Value& value, size_t* parts) {
  size_t left = most_parts;
  Node node;
  const bool whole = fill(value, node, left);
  if (parts != nullptr) *parts = most_parts - left;
  if (whole) return node;
  return unknown(value.node.raw, value.node.span).node;
}

std::optional<bool> truth_of(const Value& value) {
  if (const Object* object = value.object) {
    if (object->kind == Object::Kind::map) return !object->entries.empty();
    if (object->kind == Object::Kind::list) return !object->items.empty();
    if (object->kind == Object::Kind::call) return std::nullopt;
    return true;
  }
  const Node& node = value.node;
  if (node.opaque) return std::nullopt;
  if (node.value.is_boolean()) return node.value.get<bool>();
  if (node.value.is_number()) return node.value.get<double>() != 0;
  return !node.value.is_null() && !node.raw.empty();
}

}  // namespace plimsoll::exchange::python
