// A command line or a script of them: backslashes at line ends, quotes, variables and lists of arguments, and
// what a job asks Slurm for.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "core/exchange/languages.h"
#include "core/exchange/scalar.h"
#include "core/exchange/shell_variables.h"
#include "core/exchange/shell_words.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

// Behind a "(": what stands up to its ")".
size_t closing(std::string_view text, size_t i) {
  int depth = 1;
  while (i < text.size() && depth > 0) {
    depth += text[i] == '(' ? 1 : (text[i] == ')' ? -1 : 0);
    ++i;
  }
  return i;
}

std::vector<Word> split(std::string_view text) {
  std::vector<Word> words;
  size_t i = 0;
  bool line_start = true;
  while (i < text.size()) {
    const char c = text[i];
    if (c == '\\' && i + 1 < text.size() && (text[i + 1] == '\n' || text[i + 1] == '\r')) {
      i += text[i + 1] == '\r' ? 3 : 2;
    } else if (c == '\n') {
      line_start = true;
      ++i;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\\') {
      ++i;
    } else if (c == '#') {
      while (i < text.size() && text[i] != '\n') ++i;
    } else {
      Word word;
      word.span.at = i;
      word.line_start = line_start;
      word.opens_quoted = c == '\'' || c == '"';
      line_start = false;
      while (i < text.size() && std::string_view(" \t\r\n").find(text[i]) == std::string_view::npos) {
        if (text[i] == '\'' || text[i] == '"') {
          const char quote = text[i++];
          word.quoted = true;
          word.verbatim = word.verbatim || quote == '\'';
          while (i < text.size() && text[i] != quote) {
            if (text[i] == '\\' && quote == '"' && i + 1 < text.size()) ++i;
            word.text += text[i++];
          }
          if (i < text.size()) ++i;
        } else if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] != '\n' && text[i + 1] != '\r') {
          word.text += text[i + 1];
          i += 2;
        } else if (text[i] == '\\') {
          break;
        } else if (text[i] == '(' && i > word.span.at && (text[i - 1] == '$' || text[i - 1] == '=')) {
          // $(...), $((...)) and a list of arguments, NAME=(...), are one word.
          const size_t end = closing(text, i + 1);
          word.text += text.substr(i, end - i);
          i = end;
        } else {
          word.text += text[i++];
        }
      }
      word.span.length = i - word.span.at;
      words.push_back(std::move(word));
    }
  }
  return words;
}

// A variable's name before "=", at the beginning of a command.
std::optional<size_t> assignment(const Word& word) {
  const size_t equals = word.text.find('=');
  if (equals == std::string::npos || equals == 0) return std::nullopt;
  for (size_t i = 0; i < equals; ++i) {
    const char c = word.text[i];
    if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || (i > 0 && c >= '0' && c <= '9')))
      return std::nullopt;
  }
  return equals;
}

void shift(Node& node, uint64_t by) {
  node.span.at += by;
  for (Node& item : node.items) shift(item, by);
  for (Member& member : node.members) {
    member.key_span.at += by;
    shift(member.value, by);
  }
}

// "$MODEL" that nothing sets, "$2" that the script is started with.
bool is_unknown_variable(std::string_view text) {
  if (ShellVariables::whole(text)) return true;
  return text.size() == 2 && text[0] == '$' && text[1] >= '0' && text[1] <= '9';
}

Node value_of(std::string text, bool quoted, Span span) {
  // The shell has no types: quotes only keep blanks together.
  if (text == "None" || text == "True" || text == "False") {
    const Json value = text == "None" ? Json(nullptr) : Json(text == "True");
    return scalar_node(value, std::move(text), false, span);
  }
  if (!text.empty() && text[0] == '{') {
    Document inner = read_json(text);
    // Between quotes the JSON stands one character further.
    shift(inner.root, span.at + (quoted ? 1 : 0));
    if (inner.errors.empty() && inner.root.is_map()) return inner.root;
  }
  Json value = plain_scalar(text);
  const bool unknown = is_unknown_variable(text);
  Node node = scalar_node(unknown ? Json() : std::move(value), std::move(text), quoted, span);
  node.opaque = unknown;
  return node;
}

// "#SBATCH --gres=gpu:8": members "$SBATCH_gres", and the variables that Slurm sets from them.
void read_job(std::string_view text, Node& root, ShellVariables& variables) {
  static constexpr struct {
    std::string_view option, variable;
  } known[] = {{"nodes", "SLURM_NNODES"},
               {"nodes", "SLURM_JOB_NUM_NODES"},
               {"ntasks-per-node", "SLURM_NTASKS_PER_NODE"},
               {"gpus-per-node", "SLURM_GPUS_PER_NODE"},
               {"gpus-per-node", "SLURM_GPUS_ON_NODE"}};
  for (size_t at = text.find("#SBATCH"); at != std::string_view::npos; at = text.find("#SBATCH", at)) {
    const bool starts = at == 0 || text[at - 1] == '\n';
    at += 7;
    const size_t end = std::min(text.find('\n', at), text.size());
    if (!starts) continue;
    std::string_view line = text.substr(at, end - at);
    line = line.substr(0, line.find(" #"));
    size_t from = line.find_first_not_of(" \t-");
    if (from == std::string_view::npos || from == 0) continue;
    const bool brief = from >= 2 && line[from - 1] == '-' && line[from - 2] != '-';  // -N 2
    size_t stop = line.find_first_of("= \t", from);
    if (stop == std::string_view::npos) stop = line.size();
    std::string option(line.substr(from, stop - from));
    if (brief && option == "N") option = "nodes";
    const size_t value_at = line.find_first_not_of("= \t", stop);
    if (value_at == std::string_view::npos) continue;
    std::string_view value = line.substr(value_at);
    value = value.substr(0, value.find_last_not_of(" \t\r") + 1);
    for (const auto& row : known) {
      if (row.option == option) variables.set(std::string(row.variable), std::string(value));
    }
    std::replace(option.begin(), option.end(), '-', '_');
    root.members.push_back({"$SBATCH_" + option,
                            {at + from, stop - from},
                            value_of(std::string(value), false, {at + value_at, value.size()})});
  }
}

// $1, ${2}, $@
bool is_positional(std::string_view value) {
  if (value.substr(0, 2) == "${" && value.back() == '}') value = value.substr(1, value.size() - 2);
  return value == "$@" || value == "$*" || value == "{@" ||
         (value.size() == 2 && (value[0] == '$' || value[0] == '{') && ascii::is_digit(value[1]));
}

// CMD="${CMD} --bf16": where what is added begins in `source`; 0 for any other assignment.
size_t grown_by(std::string_view source, const std::string& name) {
  for (const std::string& self : {name + "=\"${" + name + "} ", name + "=\"$" + name + " "}) {
    if (source.substr(0, self.size()) == self && source.back() == '"') return self.size();
  }
  return 0;
}

// Words of a script with its variables put in. A variable that holds several words, as in ARGS="--a 1" or
// ARGS=(--a 1), becomes those words, which keep their place in the text.
std::vector<Word> put_variables(std::string_view text, ShellVariables& variables) {
  std::vector<Word> out;
  std::map<std::string, std::vector<Span>> lists;
  std::map<std::string, Span> values;
  size_t inserted = 0;
  for (Word& word : split(text)) {
    if (word.verbatim) {
      out.push_back(std::move(word));
      continue;
    }
    const auto name = ShellVariables::whole(word.text);
    const auto list = name ? lists.find(*name) : lists.end();
    if (list != lists.end() && inserted < 10000) {
      for (const Span& part : list->second) {
        const std::string_view inside = text.substr(part.at, part.length);
        const auto only = ShellVariables::whole(inside);
        if (only && variables.find(*only) == nullptr) continue;  // CMD="${CMD} ${PACKING}" of nothing
        for (Word& item : split(inside)) {
          item.span.at += part.at;
          item.line_start = false;
          if (!item.verbatim) item.text = variables.expanded(item.text);
          out.push_back(std::move(item));
          ++inserted;
        }
      }
      continue;
    }
    if (const auto value = name ? values.find(*name) : values.end(); value != values.end())
      word.span = value->second;  // a change of the setting is one of the variable
    if (word.text.find('$') != std::string::npos) word.text = variables.expanded(word.text);
    if (const auto equals = assignment(word)) {
      const std::string own = word.text.substr(0, *equals);
      const std::string value = word.text.substr(*equals + 1);
      const std::string_view source = text.substr(word.span.at, word.span.length);
      const char open = *equals + 1 < source.size() ? source[*equals + 1] : ' ';
      const bool several =
          value.find_first_of(" \n") != std::string::npos && value.find("--") != std::string::npos;
      const Span inside{word.span.at + *equals + 2, source.size() - std::min(source.size(), *equals + 3)};
      const size_t grows = grown_by(source, own);
      if (grows != 0 && lists.count(own) != 0 && lists[own].size() < 100) {
        lists[own].push_back({word.span.at + grows, source.size() - grows - 1});
      } else if (several && (open == '"' || open == '(') && source.size() > *equals + 3) {
        lists[own] = {inside};
      } else {
        lists.erase(own);
      }
      // bsz="$2" of a loop over arguments: there are none, and what was set before stands.
      if (is_positional(value)) {
        out.push_back(std::move(word));
        continue;
      }
      variables.set(own, value);
      values[own] = {word.span.at + *equals + 1, source.size() - *equals - 1};
    }
    out.push_back(std::move(word));
  }
  return out;
}

// The lines that end what "<<EOF" begins.
std::set<std::string> here_document_ends(const std::vector<Word>& all) {
  std::set<std::string> ends;
  for (const Word& word : all) {
    if (word.text.substr(0, 2) != "<<") continue;
    const size_t from = word.text.substr(0, 3) == "<<-" ? 3 : 2;
    if (word.text.size() > from) ends.insert(word.text.substr(from));
  }
  return ends;
}

bool ends_command(const Word& word) {
  return is_separator(word) || (!word.quoted && word.text.size() > 1 && word.text.back() == ';');
}

bool is_flag(const Word& word) {
  if (word.opens_quoted || word.text.size() < 2 || word.text[0] != '-') return false;
  return !meant_number(word.text).has_value();
}

// "key=value" at `equals`.
Member assigned(std::string key, const Word& word, size_t equals) {
  const Span value{word.span.at + equals + 1, word.span.length - equals - 1};
  return {std::move(key), {word.span.at, equals}, value_of(word.text.substr(equals + 1), word.quoted, value)};
}

// The words behind the flag at `i`, which is moved to the last of them; a script's name after a switch such
// as
// --multi_gpu is none of them.
Node value_behind(const std::vector<Word>& all, const std::set<std::string>& ends, size_t& i) {
  const Word& flag = all[i];
  const size_t most = takes_one_value(flag) ? 1 : all.size();
  std::vector<Node> given;
  while (i + 1 < all.size() && given.size() < most && !is_flag(all[i + 1])) {
    const Word& next = all[i + 1];
    const std::string_view name = next.text;
    const bool script = name.size() > 3 && (name.substr(name.size() - 3) == ".py");
    if (is_separator(next) || is_redirection(next) || (script && !next.quoted)) break;
    if (next.line_start && (assignment(next) || is_tool(next) || ends.count(next.text) != 0)) break;
    given.push_back(value_of(next.text, next.quoted, next.span));
    ++i;
  }
  if (given.empty()) return scalar_node(true, "", false, {flag.span.at + flag.span.length, 0});
  if (given.size() == 1) return std::move(given[0]);
  Node list;
  list.kind = Node::Kind::list;
  list.span = {given.front().span.at,
               given.back().span.at + given.back().span.length - given.front().span.at};
  list.items = std::move(given);
  return list;
}

// "--key value", "--key=value" at `i`, which is moved to the last word of it; nothing for dashes alone.
std::optional<Member> flag_at(const std::vector<Word>& all, const std::set<std::string>& ends, size_t& i) {
  const Word& word = all[i];
  const size_t dashes = word.text.find_first_not_of('-');
  if (dashes == std::string::npos) return std::nullopt;
  const size_t equals = word.text.find('=');
  std::string key = word.text.substr(dashes, equals == std::string::npos ? equals : equals - dashes);
  std::replace(key.begin(), key.end(), '-', '_');
  if (equals == std::string::npos) return Member{std::move(key), word.span, value_behind(all, ends, i)};
  const Span span{word.span.at + equals + 1, word.span.length - equals - 1};
  return Member{std::move(key), word.span, value_of(word.text.substr(equals + 1), word.quoted, span)};
}

}  // namespace

Document read_shell(std::string_view text) {
  Document document;
  document.language = Language::shell;
  document.root.kind = Node::Kind::map;
  Node words;
  words.kind = Node::Kind::list;
  ShellVariables variables;
  read_job(text, document.root, variables);
  const std::vector<Word> all = put_variables(text, variables);
  const std::set<std::string> ends = here_document_ends(all);
  bool in_command = false, begins = true, of_tool = false;
  for (size_t i = 0; i < all.size(); ++i) {
    const Word& word = all[i];
    if (word.line_start || begins) of_tool = is_tool(word);
    begins = ends_command(word);
    of_tool = of_tool && !is_launcher(word);
    if (of_tool) {
      in_command = false;
      continue;
    }
    if (is_prefix(word) || (word.line_start && ends.count(word.text) != 0)) {
      in_command = false;
      continue;
    }
    if (word.line_start && !is_flag(word) && assignment(word)) in_command = false;
    if (const auto equals = in_command ? std::nullopt : assignment(word)) {
      document.root.members.push_back(assigned("$" + word.text.substr(0, *equals), word, *equals));
      continue;
    }
    in_command = true;
    if (is_redirection(word)) {
      i += word.text.back() == '>' || word.text.back() == '<' ? 1 : 0;
      continue;
    }
    if (!is_flag(word)) {
      // torchtune and Hydra write key=value without dashes.
      if (const auto equals = assignment(word)) {
        document.root.members.push_back(assigned(word.text.substr(0, *equals), word, *equals));
      } else {
        words.items.push_back(scalar_node(word.text, word.text, word.quoted, word.span));
      }
      continue;
    }
    if (auto member = flag_at(all, ends, i)) document.root.members.push_back(std::move(*member));
  }
  if (!words.items.empty()) document.root.members.push_back({"$words", {}, std::move(words)});
  return document;
}

}  // namespace plimsoll::exchange
