// Statements of a script: assignments, calls, definitions, conditions that are known to fail.
#include "core/exchange/languages.h"
#include "core/exchange/python_reader.h"

namespace plimsoll::exchange {

namespace {

bool is_block_word(std::string_view name) { return name == "else" || name == "try" || name == "finally"; }

}  // namespace

void PythonReader::read() {
  document_.root = Node();
  document_.root.kind = Node::Kind::map;
  for (const PythonToken& token : tokens_) {
    if (token.type == Type::name) ++uses_[token.text];
  }
  while (peek().type != Type::end) statement();
  const auto put = [this](const char* key, std::vector<Member>& members) {
    if (members.empty()) return;
    Node map;
    map.kind = Node::Kind::map;
    map.members = std::move(members);
    document_.root.members.push_back({key, {}, std::move(map)});
  };
  put("$flags", flags_);
  put("$unnamed", unnamed_);
}

bool PythonReader::begins_line() const { return at_ == 0 || tokens_[at_ - 1].type == Type::line; }

size_t PythonReader::column() const {
  const size_t at = peek().span.at;
  const size_t line = at == 0 ? std::string_view::npos : text_.rfind('\n', at - 1);
  return line == std::string_view::npos ? at : at - line - 1;
}

void PythonReader::leave_scopes() {
  const size_t here = column();
  while (!scopes_.empty() && scopes_.back().column >= here) scopes_.pop_back();
  const bool goes_on = is_name("else") || is_name("elif");
  while (!taken_.empty() && (taken_.back() > here || (taken_.back() == here && !goes_on))) taken_.pop_back();
}

// What a name is looked up in: a method __init__ is its class.
std::string PythonReader::function() const {
  return scopes_.empty() || scopes_.back().is_class ? "" : scopes_.back().name;
}

// One step: an assignment, a call somewhere in a line, or one token that means nothing here.
void PythonReader::statement() {
  if (peek().type == Type::sign && peek().text == "{" && document_.root.members.empty()) {
    Node value = primary(0);
    if (value.is_map()) {
      for (Member& member : value.members) document_.root.members.push_back(std::move(member));
    }
    return;
  }
  if (peek().type != Type::name) {
    ++at_;
    return;
  }
  const bool first = begins_line();
  if (first) leave_scopes();
  if (is_name("def")) return define_function();
  if (first && is_name("class")) return define_class();
  if (first && (is_name("if") || is_name("elif") || is_name("else"))) return condition();
  if (first && is_name("for")) return loop();
  if (first && is_name("return")) return note_return();
  const bool in_class = first && !scopes_.empty() && scopes_.back().is_class;
  const size_t begin = at_;
  const std::string name = dotted();
  const Span key_span = span_from(begin);
  if (is_sign("[") && subscript_assignment(name)) return;
  // "name: type = value"
  if (first && is_sign(":") && !is_block_word(name)) skip_annotation();
  if (is_sign("(")) {
    if (name == "import") return;
    const Node made = call(name, key_span, 0);
    Node* grown = name_ends_with(name, ".update")
                      ? names_.assigned(function(), name.substr(0, name.size() - 7))
                      : nullptr;
    if (grown != nullptr && grown->is_map() && grown->call.empty() && grown->members.size() < 500) {
      const Node* other = made.find("0");
      for (const Member& member : (other != nullptr && other->is_map() ? *other : made).members)
        grown->members.insert(grown->members.begin(), member);
    }
    return;
  }
  if (is_sign("=")) return assignment(name, key_span, in_class);
  if (name == "from" || name == "import") note_import();
}

void PythonReader::assignment(const std::string& name, Span key_span, bool in_class) {
  ++at_;
  Node value = expression(0);
  // "max_length = 512," pasted out of a call.
  if (is_sign(",") && (peek(1).type == Type::line || peek(1).type == Type::end)) ++at_;
  if (attribute_assignment(name, key_span, value)) return;
  if (in_class) names_.add_field(scopes_.back().name, name, value);
  names_.assign(function(), name, value);
  if (value.is_map() && !value.call.empty()) return;  // a call: it is a member of the root already
  if (!value.opaque) document_.root.members.push_back({name, key_span, std::move(value)});
}

// training_args.optim = "adafactor", behind training_args = TrainingArguments(...): what the call is given.
bool PythonReader::attribute_assignment(const std::string& name, Span key_span, const Node& value) {
  const size_t dot = name.find('.');
  if (dot == std::string::npos || name.find('.', dot + 1) != std::string::npos) return false;
  const Node* object = names_.find(function(), name.substr(0, dot));
  if (object == nullptr || object->call.empty() || object->members.size() > 500) return false;
  for (Member& call : document_.root.members) {
    if (call.value.call != object->call || call.value.span.at != object->span.at) continue;
    const std::string key = name.substr(dot + 1);
    std::erase_if(call.value.members, [&key](const Member& member) { return member.key == key; });
    call.value.members.push_back({key, key_span, value});
    return true;
  }
  return false;
}

// os.environ["NAME"] = "value", kwargs["optim"] = "adafactor"
bool PythonReader::subscript_assignment(const std::string& name) {
  if (peek(1).type != Type::text || !is_sign("]", 2) || !is_sign("=", 3)) return false;
  const PythonToken key = peek(1);
  at_ += 4;
  Node value = expression(0);
  if (name == "os.environ") {
    document_.root.members.push_back({"$" + key.text, key.span, std::move(value)});
    return true;
  }
  Node* map = names_.assigned(function(), name);
  if (map == nullptr || !map->is_map() || !map->call.empty() || map->members.size() > 500) return true;
  // The first of a name counts.
  map->members.insert(map->members.begin(), {key.text, key.span, std::move(value)});
  return true;
}

// At "def": its parameters, and what stands in it from here on.
void PythonReader::define_function() {
  const size_t here = column(), line = at_;
  ++at_;
  std::string name = peek().text;
  ++at_;
  if (!is_sign("(")) return;
  const bool method = !scopes_.empty() && scopes_.back().is_class;
  if (method && name == "__init__") name = scopes_.back().name;
  ++at_;
  while (peek().type != Type::end && !is_sign(")")) {
    if (peek().type != Type::name) {
      ++at_;
      continue;
    }
    const std::string parameter = peek().text;
    ++at_;
    if (is_sign(":")) skip_annotation();
    Node value;
    const bool has_value = is_sign("=");
    if (has_value) {
      ++at_;
      value = expression(1);
    }
    // def tokenize(rows, max_seq_length=256): what is said of a length where no call says another.
    if (has_value && value.value.is_number_unsigned() && name_ends_with(parameter, "seq_length"))
      document_.root.members.push_back({parameter, value.span, value});
    if (parameter != "self" && parameter != "cls")
      names_.add_parameter(name, parameter, has_value ? &value : nullptr);
  }
  if (is_sign(")")) ++at_;
  // One that is decorated is called by what decorates it; a method, by an object that may be anywhere.
  const bool decorated = line > 1 && tokens_[line - 1].type == Type::line && is_decorated(line - 1);
  const auto uses = uses_.find(tokens_[line + 1].text);
  scopes_.push_back({here, name, false, !method && !decorated && uses != uses_.end() && uses->second == 1});
}

// Whether the line that ends at a token begins with "@".
bool PythonReader::is_decorated(size_t end) const {
  size_t begin = end;
  while (begin > 0 && tokens_[begin - 1].type != Type::line) --begin;
  return begin < end && tokens_[begin].type == Type::sign && tokens_[begin].text == "@";
}

// At "return": a dict that is built or named, which the call of the function stands for.
void PythonReader::note_return() {
  ++at_;
  const bool alone = peek().type == Type::name && (peek(1).type == Type::line || peek(1).type == Type::end);
  if (!alone && !is_sign("{")) return;
  Node value = primary(1);
  if (value.is_map() && value.call.empty() && !value.members.empty())
    names_.add_return(function(), std::move(value));
}

// A call in a function that nothing names: no part of what runs, where another call says the same.
void PythonReader::note_unnamed(Span call) {
  const bool unnamed =
      std::any_of(scopes_.begin(), scopes_.end(), [](const Scope& scope) { return scope.is_unnamed; });
  if (unnamed && unnamed_.size() < 500)
    unnamed_.push_back({std::to_string(call.at), call, scalar_node(true, "True", false, call)});
}

void PythonReader::define_class() {
  const size_t here = column();
  ++at_;
  scopes_.push_back({here, peek().text, true});
  ++at_;
}

// At ":" of "name: Optional[Dict[str, int]] = value", to "=", "," or ")".
void PythonReader::skip_annotation() {
  const size_t from = at_;
  ++at_;
  size_t level = 0;
  while (peek().type != Type::end && peek().type != Type::line) {
    if (is_sign("[") || is_sign("(")) ++level;
    if (level == 0 && (is_sign("=") || is_sign(",") || is_sign(")"))) return;
    if (is_sign("]") || is_sign(")")) --level;
    ++at_;
  }
  if (scopes_.empty() || !scopes_.back().is_class) at_ = from + 1;
}

// if, elif, else: a block that is known not to run is left out, unless the training is in it.
void PythonReader::condition() {
  const size_t here = column(), from = at_, known = document_.root.members.size();
  const bool otherwise = is_name("else");
  const bool answered = !is_name("if") && !taken_.empty() && taken_.back() == here;
  ++at_;
  if (answered) return skip_block(here);
  if (otherwise) return;
  const Node answer = choice(0);
  const auto holds = answer.is_scalar() && answer.value.is_null() ? std::nullopt : truth_of(answer);
  if (!holds || !is_sign(":")) {
    at_ = from + 1;
    document_.root.members.resize(known);
    return;
  }
  ++at_;
  if (!*holds) return skip_block(here);
  taken_.push_back(here);
}

// for cfg in MODELS:, for i, cfg in enumerate(MODELS): the name stands for the first of a list that is known.
void PythonReader::loop() {
  ++at_;
  std::vector<std::string> targets;
  while (peek().type == Type::name && !is_name("in")) {
    targets.push_back(peek().text);
    ++at_;
    if (is_sign(",")) ++at_;
  }
  if (targets.empty() || !is_name("in")) return;
  ++at_;
  const bool counted = is_name("enumerate") && is_sign("(", 1);
  if (counted) at_ += 2;
  if (peek().type != Type::name && !is_sign("[") && !is_sign("(")) return;
  const Node list = expression(counted ? 1 : 0);
  if (list.is_list() && !list.items.empty() && targets.size() == (counted ? 2u : 1u))
    names_.assign(function(), targets.back(), list.items[0]);
}

bool PythonReader::trains_in_block(size_t from, size_t to) const {
  for (size_t i = from; i < to; ++i) {
    const std::string& word = tokens_[i].text;
    if (tokens_[i].type == Type::name &&
        (name_ends_with(word, "Trainer") || name_ends_with(word, "TrainingArguments") || word == "train"))
      return true;
  }
  return false;
}

// All lines that stand deeper than the column; of "if x: y = 1" the rest of the line.
void PythonReader::skip_block(size_t here) {
  const size_t from = at_;
  if (is_sign(":")) ++at_;
  while (peek().type != Type::end && peek().type != Type::line) ++at_;
  while (peek().type != Type::end) {
    const size_t line = at_;
    skip_lines();
    if (peek().type != Type::end && column() <= here) {
      at_ = line;
      break;
    }
    while (peek().type != Type::end && peek().type != Type::line) ++at_;
  }
  if (trains_in_block(from, at_)) at_ = from;
}

void PythonReader::note_import() {
  while (peek().type == Type::name || is_sign(".") || is_sign(",")) {
    if (is_name("unsloth"))
      document_.root.members.push_back({"$import", peek().span, scalar_node("unsloth", "unsloth", true, {})});
    ++at_;
  }
}

Document read_python(std::string_view text) {
  Document document;
  document.language = Language::python;
  const std::vector<PythonToken> tokens = python_tokens(text);
  // What stands below a use is known in the next reading: the functions of a script before its last lines.
  constexpr int readings = 3;
  PythonNames before;
  for (int i = 0; i < readings; ++i) {
    PythonNames names;
    PythonReader reader(text, tokens, before, names, document);
    reader.read();
    if (!reader.has_unknown() && !names.has_functions()) break;
    before = std::move(names);
  }
  return document;
}

}  // namespace plimsoll::exchange
