// Calls in a script: what they are given, and what is known to come of some of them.
#include "core/exchange/python_reader.h"
#include "core/exchange/scalar.h"

namespace plimsoll::exchange {

namespace {

// "q_proj,v_proj".split(",")
Node pieces(const Node& whole, const std::string& separator) {
  Node node;
  node.kind = Node::Kind::list;
  node.span = whole.span;
  for (size_t from = 0; from <= whole.raw.size();) {
    const size_t to = std::min(whole.raw.find(separator, from), whole.raw.size());
    std::string piece = whole.raw.substr(from, to - from);
    piece.erase(0, std::min(piece.find_first_not_of(' '), piece.size()));
    piece.erase(piece.find_last_not_of(' ') + 1);
    node.items.push_back(scalar_node(piece, piece, true, whole.span));
    from = to + separator.size();
  }
  return node;
}

// The hub's cache keeps a model in a folder of its name: ".../models--mistralai--Mistral-7B-v0.3/snapshots".
std::string cached_name(const std::string& path) {
  const std::string_view mark = "models--";
  const size_t at = path.find(mark);
  if (at == std::string::npos) return "";
  std::string name = path.substr(at + mark.size());
  name.resize(std::min(name.find('/'), name.size()));
  const size_t owner = name.find("--");
  return owner == std::string::npos ? "" : name.replace(owner, 2, "/");
}

// os.path.join("a", "b"); the call itself where a part is not known, and no earlier one says the model.
Node joined(const Node& given) {
  std::string path;
  for (const Member& part : given.members) {
    if (!is_value(part.value) || !part.value.quoted) {
      const std::string name = cached_name(path);
      return name.empty() ? given : scalar_node(name, name, true, given.span);
    }
    path += (path.empty() || path.back() == '/' ? "" : "/") + part.value.raw;
  }
  return scalar_node(path, path, true, given.span);
}

}  // namespace

// At "(": what a call is given.
Node PythonReader::arguments(const std::string& name, int depth) {
  Node node;
  node.kind = Node::Kind::map;
  node.call = name;
  const size_t start = at_;
  ++at_;
  size_t position = 0;
  while (peek().type != Type::end) {
    skip_lines();
    if (is_sign(")")) break;
    if (is_sign(",")) {
      ++at_;
      continue;
    }
    const size_t before = at_;
    if (take_spread(node, depth)) continue;
    if (peek().type == Type::name && is_sign("=", 1)) {
      const PythonToken key = peek();
      at_ += 2;
      skip_lines();
      Node value = expression(depth + 1);
      node.members.push_back({key.text, key.span, std::move(value)});
    } else {
      Node value = expression(depth + 1);
      node.members.push_back({std::to_string(position++), value.span, std::move(value)});
    }
    if (at_ == before) ++at_;
  }
  if (is_sign(")")) ++at_;
  node.span = span_from(start);
  return node;
}

// At "(". Adds the call to the root and gives its arguments, or what is known to come of them.
Node PythonReader::call(const std::string& name, Span key_span, int depth) {
  Node node = arguments(name, depth);
  if (name_ends_with(name, ".add_argument") || name_ends_with(name, "click.option")) names_.add_flag(node);
  names_.add_call(name, node, &before_);
  Node known = known_call(name, node);
  if (known.call.empty()) return known;
  if (depth >= deepest_expression) return node;
  document_.root.members.push_back({name, key_span, node});
  note_unnamed(key_span);
  return node;
}

// dict(a=1), int(x), os.environ.get("NAME", x), {...}.get("key", x), "a,b".split(","); else the call itself.
Node PythonReader::known_call(const std::string& name, Node given) {
  const Node* first = given.find("0");
  const Node* second = given.find("1");
  if (name == "dict" && first == nullptr) {
    given.call.clear();
    return given;
  }
  for (const PythonNames* names : {static_cast<const PythonNames*>(&names_), &before_}) {
    if (const Node* made = names->returned(name)) return *made;
  }
  // Started without arguments, as its flags are read as their defaults.
  if (name == "len" && first != nullptr && first->raw == "sys.argv")
    return scalar_node(1, "len(sys.argv)", false, given.span);
  if (name == "os.path.join") return joined(given);
  if (name_ends_with(name, "snapshot_download")) {
    const Node* repository = given.find("repo_id");
    if (repository == nullptr) repository = first;
    if (repository != nullptr && is_value(*repository)) return *repository;
  }
  if ((name == "os.getenv" || name == "getenv" || name == "os.environ.get") && second != nullptr)
    return *second;
  const bool converts = name == "int" || name == "float" || name == "str" || name == "bool" || name == "list";
  if (converts && first != nullptr && !first->opaque && first->call.empty()) {
    const auto number = first->quoted && name != "str" ? meant_number(first->raw) : std::nullopt;
    return number ? scalar_node(*number, first->raw, false, first->span) : *first;
  }
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos || first == nullptr || !is_value(*first)) return given;
  const Node* owner = names_.find(function(), name.substr(0, dot), &before_);
  if (owner == nullptr || owner->opaque) owner = before_.find(function(), name.substr(0, dot));
  if (owner == nullptr || owner->opaque || !owner->call.empty()) return given;
  const std::string method = name.substr(dot + 1);
  note_flag(owner, owner->span);
  if (method == "split" && owner->quoted && !first->raw.empty()) return pieces(*owner, first->raw);
  if (method != "get" || !owner->is_map()) return given;
  if (const Node* found = owner->find(first->raw)) return *found;
  return second != nullptr ? *second : scalar_node(nullptr, "None", false, given.span);
}

}  // namespace plimsoll::exchange
