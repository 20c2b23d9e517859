// Variables: what $NAME, ${NAME...}, $(...) and $((...)) stand for, and NAME=value.
#include <algorithm>

#include "core/exchange/shell/arithmetic.h"
#include "core/exchange/shell/interpreter.h"
#include "core/json/ascii.h"

namespace plimsoll::exchange::shell {

namespace {

constexpr size_t longest = size_t{1} << 16;

size_t behind_name(std::string_view text, size_t at) {
  if (at < text.size() && ascii::is_digit(text[at])) return at + 1;
  size_t end = at;
  while (end < text.size() && ascii::is_word(text[end])) ++end;
  if (end == at && at < text.size() && std::string_view("@*#?$!-").find(text[at]) != std::string_view::npos)
    ++end;
  return end;
}

// Set by the system, a scheduler or a launcher: that a script does not set it says nothing.
bool is_of_environment(std::string_view name) {
  static constexpr std::string_view names[] = {"HOME",        "USER",        "PWD",        "HOSTNAME",
                                               "RANK",        "WORLD_SIZE",  "LOCAL_RANK", "NODE_RANK",
                                               "MASTER_ADDR", "MASTER_PORT", "TMPDIR"};
  return name.starts_with("SLURM_") || name.starts_with("PBS_") || name.starts_with("LSB_") ||
         std::find(std::begin(names), std::end(names), name) != std::end(names);
}

char upper(char c) { return ascii::is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c; }

// $1, ${2}, $@: what a script is started with.
bool is_positional(std::string_view value) {
  if (value.starts_with("${") && value.ends_with('}')) value = value.substr(1, value.size() - 2);
  return value == "$@" || value == "$*" || value == "{@" ||
         (value.size() == 2 && (value[0] == '$' || value[0] == '{') && ascii::is_digit(value[1]));
}

// MORE of CMD="${CMD} ${MORE}"; "" of any other value.
std::string added_variable(std::string_view source, const std::string& name) {
  for (const std::string& self : {"\"${" + name + "} $", "\"$" + name + " $"}) {
    if (!source.starts_with(self) || !source.ends_with('"')) continue;
    source = source.substr(self.size(), source.size() - self.size() - 1);
    if (source.starts_with('{') && source.ends_with('}')) source = source.substr(1, source.size() - 2);
    return std::all_of(source.begin(), source.end(), ascii::is_word) ? std::string(source) : "";
  }
  return "";
}

Expansion found_at(size_t end, Text text) {
  Expansion found;
  found.end = end;
  found.known = true;
  found.items.push_back(std::move(text));
  return found;
}

// ${NAME#pattern}, ${NAME%pattern}: the shortest or, doubled, the longest that fits is taken off.
Text taken_off(const Text& value, std::string_view pattern, char side, bool most) {
  const size_t size = value.size();
  if (size > 256 || pattern.size() > 256) return value;
  for (size_t i = 0; i <= size; ++i) {
    const size_t length = most ? size - i : i;
    const size_t from = side == '#' ? 0 : value.size() - length;
    if (!matches(pattern, std::string_view(value.characters).substr(from, length))) continue;
    return side == '#' ? value.part(length) : value.part(0, from);
  }
  return value;
}

Text replaced(const Text& value, const Text& from, const Text& to, bool all) {
  Text out;
  size_t at = 0;
  while (!from.empty()) {
    const size_t found = value.characters.find(from.characters, at);
    if (found == std::string::npos || out.size() > longest) break;
    out += value.part(at, found - at);
    out += to;
    at = found + from.size();
    if (!all) break;
  }
  out += value.part(at);
  return out;
}

}  // namespace

Expansion Interpreter::expand(const Text& written, size_t at) {
  const std::string& text = written.characters;
  Expansion unknown;
  unknown.end = at + 1;
  if (!spend(64)) return unknown;
  if (text[at] == '`') {
    const size_t end = text.find('`', at + 1);
    if (end == std::string::npos) return unknown;
    unknown.end = end + 1;
    bool known = false;
    Text printed = captured(written.part(at + 1, end - at - 1), known);
    return known ? found_at(end + 1, std::move(printed)) : unknown;
  }
  if (at + 1 >= text.size()) return unknown;
  if (text[at + 1] == '{') return braced(written, at);
  if (text[at + 1] != '(') return parameter(written, at);
  const size_t end = behind_brackets(text, at + 2);
  unknown.end = end;
  const bool sum = text.compare(at, 3, "$((") == 0 && end - at >= 5 && text.compare(end - 2, 2, "))") == 0;
  if (sum) {
    const auto number = whole_number(std::string_view(text).substr(at + 3, end - at - 5),
                                     [this](std::string_view name) { return number_of(name); });
    if (!number) return unknown;
    return found_at(
        end, Text::made(std::to_string(*number), written.part(at, end - at).origin().value_or(Span{})));
  }
  bool known = false;
  Text printed = captured(written.part(at + 2, end - at - 3), known);
  return known ? found_at(end, std::move(printed)) : unknown;
}

std::optional<std::string> Interpreter::number_of(std::string_view name) const {
  const auto found = variables_.find(std::string(name));
  if (found == variables_.end() || found->second.items.empty()) return std::nullopt;
  return found->second.items.front().second.characters;
}

// What a name holds; `index`: "" the first, "@" all.
Expansion Interpreter::held(std::string_view name, const std::string& index) const {
  Expansion found;
  if (name == "@" || name == "*") {
    found.known = found.several = true;
    found.items = arguments_;
    return found;
  }
  if (name == "#" || ascii::is_digit(name[0])) {
    found.known = has_arguments_ && name != "0";
    if (!found.known) return found;
    const auto number = static_cast<size_t>(name == "#" ? 0 : name[0] - '0');
    if (name == "#") {
      found.items.push_back(Text::made(std::to_string(arguments_.size()), {}));
    } else {
      found.items.push_back(number <= arguments_.size() ? arguments_[number - 1] : Text{});
    }
    return found;
  }
  const auto variable = variables_.find(std::string(name));
  if (variable == variables_.end()) return found;
  if (index == "@" || index == "*") {
    found.known = found.several = true;
    for (const auto& [key, value] : variable->second.items) found.items.push_back(value);
    return found;
  }
  for (const auto& [key, value] : variable->second.items) {
    if (!index.empty() && key != index) continue;
    found.known = true;
    found.items.push_back(value);
    break;
  }
  return found;
}

// In a test a variable that the script does not set is that of a fresh shell.
bool Interpreter::reads_as_empty(std::string_view name) const {
  return unset_is_empty_ && ascii::is_word(name[0]) && !ascii::is_digit(name[0]) && !is_of_environment(name);
}

Expansion Interpreter::parameter(const Text& written, size_t at) {
  const std::string& text = written.characters;
  const size_t end = behind_name(text, at + 1);
  Expansion found;
  found.end = std::max(end, at + 1);
  if (end == at + 1) return found;
  const std::string_view name = std::string_view(text).substr(at + 1, end - at - 1);
  found = held(name, "");
  found.end = end;
  return found.known || !reads_as_empty(name) ? found : found_at(end, Text{});
}

// "${!LIST[@]}"
Expansion Interpreter::keys_of(const std::string& name, size_t end) const {
  Expansion found;
  found.end = end;
  const auto variable = variables_.find(name);
  if (variable == variables_.end()) return found;
  found.known = found.several = true;
  for (const auto& [key, value] : variable->second.items) found.items.push_back(Text::made(key, {}));
  return found;
}

Expansion Interpreter::braced(const Text& written, size_t at) {
  const std::string& text = written.characters;
  const size_t end = behind_braces(text, at + 2);
  Expansion unknown;
  unknown.end = end == 0 ? at + 2 : end;
  if (end == 0) return unknown;
  size_t from = at + 2;
  const bool counts = text[from] == '#' && end - from > 2;
  const bool indirect = text[from] == '!';
  const bool keys = indirect && end >= from + 4 &&
                    (text.compare(end - 4, 4, "[@]}") == 0 || text.compare(end - 4, 4, "[*]}") == 0);
  if (counts || indirect) ++from;
  size_t stop = behind_name(text, from);
  std::string name = text.substr(from, stop - from);
  if (name.empty()) return unknown;
  if (keys) return keys_of(name, end);
  if (indirect) {
    const Expansion meant = held(name, "");
    if (!meant.known || meant.several || meant.items.front().empty()) return unknown;
    name = meant.items.front().characters;
  }
  std::string index;
  if (text[stop] == '[') {
    const size_t close = text.find(']', stop);
    if (close == std::string::npos || close >= end) return unknown;
    index = value_of(written.part(stop + 1, close - stop - 1)).characters;
    if (const auto number = number_of(index)) index = *number;
    stop = close + 1;
  }
  Expansion found = held(name, index);
  found.end = end;
  if (counts) {
    const size_t size = found.several ? found.items.size() : (found.known ? found.items.front().size() : 0);
    return found.known ? found_at(end, Text::made(std::to_string(size), {})) : unknown;
  }
  if (stop + 1 >= end) return found.known || !reads_as_empty(name) ? found : found_at(end, Text{});
  if (found.several) return unknown;
  std::optional<Text> value = changed(found, written.part(stop, end - 1 - stop));
  return value ? found_at(end, std::move(*value)) : unknown;
}

// What stands behind the name in ${NAME...}.
std::optional<Text> Interpreter::changed(const Expansion& held, const Text& how) {
  const bool colon = how.characters[0] == ':';
  const size_t at = colon ? 1 : 0;
  const char sign = at < how.size() ? how.characters[at] : ' ';
  const bool there =
      held.known && !(colon && held.items.front().empty()) && !is_positional(held.items.front().characters);
  if (sign == '-' || sign == '=') return there ? held.items.front() : value_of(how.part(at + 1));
  if (sign == '+') return there ? value_of(how.part(at + 1)) : Text{};
  if (!held.known) return std::nullopt;
  const Text& value = held.items.front();
  if (sign == '?') return value;
  const bool twice = how.size() > 1 && how.characters[1] == how.characters[0];
  if (sign == '#' || sign == '%')
    return taken_off(value, value_of(how.part(twice ? 2 : 1)).characters, sign, twice);
  if (sign == ',' || sign == '^') {
    Text other = value;
    for (char& c : other.characters) c = sign == ',' ? ascii::lower(c) : upper(c);
    return other;
  }
  if (sign == '/') {
    const size_t second = how.characters.find('/', twice ? 2 : 1);
    const Text from =
        value_of(how.part(twice ? 2 : 1, second == std::string::npos ? second : second - (twice ? 2 : 1)));
    if (from.characters.find_first_of("*?[") != std::string::npos) return std::nullopt;
    return replaced(value, from, second == std::string::npos ? Text{} : value_of(how.part(second + 1)),
                    twice);
  }
  if (colon && ascii::is_digit(sign)) {
    const size_t second = how.characters.find(':', 1);
    const auto number = [&](size_t from) {
      size_t count = 0;
      for (; from < how.size() && ascii::is_digit(how.characters[from]) && count < longest; ++from)
        count = count * 10 + static_cast<size_t>(how.characters[from] - '0');
      return count;
    };
    return value.part(number(1), second == std::string::npos ? second : number(second + 1));
  }
  return std::nullopt;
}

// The items of (a "b c" $D [key]=e).
void Interpreter::read_list(const Text& inside, Variable& made) {
  for (const Statement& statement : parse(inside)) {
    for (const Text& item : statement.words) {
      const size_t close = item.characters.find("]=");
      if (item.characters[0] == '[' && close != std::string::npos) {
        made.items.emplace_back(value_of(item.part(1, close - 1)).characters, value_of(item.part(close + 2)));
        continue;
      }
      for (Word& word : words_of(item))
        made.items.emplace_back(std::to_string(made.items.size()), std::move(word.text));
    }
  }
}

// NAME=value, NAME+=value, NAME=(a b), NAME[key]=value. False when it is none.
bool Interpreter::assign(const Text& written) {
  const auto equals = assignment(written.characters);
  if (!equals) return false;
  const bool adds = *equals > 0 && written.characters[*equals - 1] == '+';
  size_t end = behind_name(written.characters, 0);
  const std::string name = written.characters.substr(0, end);
  std::string index = "0";
  if (written.characters[end] == '[') {
    const size_t close = written.characters.find(']', end);
    index = value_of(written.part(end + 1, close - end - 1)).characters;
  }
  const Text source = written.part(*equals + 1);
  Variable made;
  made.name_span = written.part(0, end).origin().value_or(Span{});
  made.span = source.origin().value_or(Span{});
  made.quoted = !source.empty() && (source.characters[0] == '"' || source.characters[0] == '\'');
  made.list = !source.empty() && source.characters[0] == '(' && source.characters.back() == ')';
  const auto before = variables_.find(name);
  const bool known = before != variables_.end();
  // What grows by a variable that nothing sets stays as it is.
  const std::string added = added_variable(source.characters, name);
  if (known && !added.empty() && variables_.count(added) == 0) return true;
  if (known && !spend(before->second.items.size())) return true;
  if (made.list) {
    if (adds && known) made.items = before->second.items;
    read_list(source.part(1, source.size() - 2), made);
  } else {
    // bsz="$2" of a loop over arguments: there are none, and what was set before stands.
    const Text value = value_of(source);
    if (!has_arguments_ && (known || uncertain_ > 0) && is_positional(value.characters)) return true;
    if (known && (index != "0" || (adds && before->second.list))) made = before->second;
    auto item = std::find_if(made.items.begin(), made.items.end(),
                             [&](const auto& one) { return one.first == index; });
    if (item == made.items.end()) item = made.items.insert(item, {index, Text{}});
    if (adds && known && !before->second.items.empty() && index == "0")
      item->second = before->second.items.front().second;
    if (adds) {
      item->second += value;
    } else {
      item->second = value;
    }
    if (item->second.size() > longest) return true;
  }
  set_variable(name, std::move(made));
  return true;
}

}  // namespace plimsoll::exchange::shell
