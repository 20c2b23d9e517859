// What names stand for while a script is followed: a scalar, or an object that several names may share.
//
//     Value rank{scalar_node(16, "16", false, span)};
//     Value arguments{{}, objects.make(Object::Kind::map)};
//     set(*arguments.object, {"r", span, rank});
//     Node node = to_node(arguments);                     // {"r": 16}
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/exchange/python/program.h"

namespace plimsoll::exchange::python {

struct Object;

/// Of an object `node` says where it stands in the text and how; a scalar that is opaque is not known.
/// Of a text that the script puts together, and of the parts of one value.
constexpr size_t most_characters = 1000, most_parts = 1000;

struct Value {
  Node node;
  Object* object = nullptr;
};

/// A member of a map, an argument of a call, an attribute of an instance.
struct Entry {
  std::string key;
  Span key_span;
  Value value;
};

struct Scope {
  std::map<std::string, Value> names;
  std::vector<std::string> globals;  ///< names that a function takes from the outermost scope
  Scope* outer = nullptr;
};

struct Object {
  enum class Kind : uint8_t {
    map,
    list,
    call,      ///< what a call of somebody else's code gives; entries are its arguments
    instance,  ///< of a class of the script
    type,      ///< a class of the script
    function,  ///< of the script
  };
  Kind kind = Kind::map;
  Span span;
  std::vector<Entry> entries;
  std::vector<Value> items;
  std::string name;   ///< of a call: what was called; of a type: its name
  size_t member = 0;  ///< of a call: where it stands among the members of the root, from 1 on; 0 nowhere
  std::vector<size_t> from;  ///< of a call that stands nowhere, or not yet: the members that it comes from
  bool flags = false;        ///< a map of the flags of the script's command line
  Object* type = nullptr;    ///< of an instance
  std::vector<Value> bases;  ///< of a type
  const Statement* statement = nullptr;  ///< of a type or a function
  const Expression* lambda = nullptr;    ///< of a function
  Scope* scope = nullptr;                ///< what a function or a type stands in
  Value self;                            ///< of a method that was taken from an instance
  Object* result = nullptr;              ///< of a function: what it gave when it last ran
};

/// Objects live as long as the run: scripts make cycles of them.
struct Objects {
  std::deque<Object> objects;
  std::deque<Scope> scopes;

  Object* make(Object::Kind kind, Span span = {}) {
    objects.push_back({});
    objects.back().kind = kind;
    objects.back().span = span;
    return &objects.back();
  }
  Scope* make_scope(Scope* outer) {
    scopes.push_back({});
    scopes.back().outer = outer;
    return &scopes.back();
  }
};

inline bool is(const Value& value, Object::Kind kind) {
  return value.object != nullptr && value.object->kind == kind;
}
/// A scalar that is known, None too.
inline bool is_known(const Value& value) { return value.object == nullptr && !value.node.opaque; }
inline bool is_none(const Value& value) { return is_known(value) && value.node.value.is_null(); }
inline bool is_text(const Value& value) { return is_known(value) && value.node.value.is_string(); }
/// Known, and not None.
inline bool says_something(const Value& value) {
  return value.object != nullptr || (!value.node.opaque && !value.node.value.is_null());
}

const Entry* find(const Object& object, std::string_view key);
/// The value of a member; null where there is none.
inline const Value* argument(const Object& given, std::string_view key) {
  const Entry* entry = find(given, key);
  return entry == nullptr ? nullptr : &entry->value;
}
/// Adds an entry, or gives it another value.
void set(Object& object, Entry entry);

/// What is written of a value: scalars, lists, maps, calls; anything else, and what has more parts than
/// 1,000, is opaque and keeps its text.
/// `parts`: how many it has.
Node to_node(const Value& value, size_t* parts = nullptr);

/// The calls that a value comes from, as members of the root: of an instance, those that its attributes do.
std::vector<size_t> made_by(const Value& value);

/// An expression that is not evaluated.
Value unknown(std::string_view text, Span span);

inline bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}
/// The number of an argument without a name is its key.
inline bool is_position(const std::string& key) {
  return key.find_first_not_of("0123456789") == std::string::npos;
}

/// Whether Python takes a value for true; nothing where it is not known.
std::optional<bool> truth_of(const Value& value);

}  // namespace plimsoll::exchange::python
