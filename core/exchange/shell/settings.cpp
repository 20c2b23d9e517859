// A command line or a script of them as settings: flags are members, and what a job asks Slurm for.
#include <algorithm>
#include <optional>

#include "core/exchange/languages.h"
#include "core/exchange/scalar.h"
#include "core/exchange/shell/follow.h"
#include "core/json/ascii.h"

namespace plimsoll::exchange {

namespace {

using json::Json;
using shell::Text;
using shell::Word;

void shift(Node& node, uint64_t by) {
  node.span.at += by;
  for (Node& item : node.items) shift(item, by);
  for (Member& member : node.members) {
    member.key_span.at += by;
    shift(member.value, by);
  }
}

// "$MODEL" that nothing sets, "$2" that the script is started with, "$(nproc)".
bool is_unknown(std::string_view text) {
  if (text.starts_with("$(")) return text.ends_with(')');
  if (text.empty() || text[0] != '$') return text.size() > 1 && text[0] == '`' && text.back() == '`';
  text.remove_prefix(1);
  if (text.starts_with('{') && text.ends_with('}')) text = text.substr(1, text.size() - 2);
  size_t end = 0;
  while (end < text.size() && ascii::is_word(text[end])) ++end;
  return end > 0 && end == text.size();
}

// '["q_proj", "v_proj"]' and, as fire reads it, "[q_proj,v_proj]"; a pattern such as "[qk]_proj" is no list.
std::optional<Node> list_in(std::string_view text, Span span) {
  Node list;
  list.kind = Node::Kind::list;
  list.span = span;
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view item = ascii::trim(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    const bool quoted = item.size() > 1 && (item[0] == '"' || item[0] == '\'') && item.back() == item[0];
    if (quoted) item = item.substr(1, item.size() - 2);
    const bool named =
        std::all_of(item.begin(), item.end(), [](char c) { return ascii::is_word(c) || c == '.'; });
    if (item.empty() || !named) return std::nullopt;
    list.items.push_back(scalar_node(std::string(item), std::string(item), true, {}));
  }
  return list;
}

Node value_of(const Text& given, bool quoted, Span span) {
  std::string text = given.characters;
  // The shell has no types: quotes only keep blanks together.
  if (text == "None" || text == "True" || text == "False") {
    const Json value = text == "None" ? Json(nullptr) : Json(text == "True");
    return scalar_node(value, std::move(text), false, span);
  }
  if (!text.empty() && text[0] == '{') {
    Document inner = read_json(text);
    if (const auto origin = given.origin()) shift(inner.root, origin->at);
    if (inner.errors.empty() && inner.root.is_map()) return inner.root;
  }
  if (text.size() > 2 && text.front() == '[' && text.back() == ']') {
    if (auto list = list_in(text, span)) return *std::move(list);
  }
  Json value = plain_scalar(text);
  const bool unknown = is_unknown(text);
  Node node = scalar_node(unknown ? Json() : std::move(value), std::move(text), quoted, span);
  node.opaque = unknown;
  return node;
}

// "#SBATCH --gres=gpu:8": members "$SBATCH_gres", and the variables that Slurm sets from them.
std::vector<std::pair<std::string, std::string>> read_job(std::string_view text, Node& root) {
  std::vector<std::pair<std::string, std::string>> variables;
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
      if (row.option == option) variables.emplace_back(row.variable, value);
    }
    std::replace(option.begin(), option.end(), '-', '_');
    root.members.push_back(
        {"$SBATCH_" + option,
         {at + from, stop - from},
         value_of(Text::of(text, at + value_at, value.size()), false, {at + value_at, value.size()})});
  }
  return variables;
}

// "gpu:h100:8" of --gres, "l40s:2" of --gpus-per-node: the kind of card that a job asks Slurm for; "" none.
std::string card_of_job(const Node& root) {
  for (const char* key : {"$SBATCH_gres", "$SBATCH_gpus_per_node", "$SBATCH_gpus", "gres"}) {
    const Node* asked = root.find(key);
    if (asked == nullptr) continue;
    std::string_view word = asked->raw;
    if (word.starts_with("gpu:")) word.remove_prefix(4);
    word = word.substr(0, word.find(':'));
    if (word != "gpu" && std::any_of(word.begin(), word.end(), ascii::is_letter) && !word.starts_with('$'))
      return std::string(word);
  }
  return "";
}

// What stands behind the "=" of a word.
Member assigned(std::string key, Span key_span, const Word& word, size_t equals) {
  const Text value = word.text.part(equals + 1);
  const Span rest{word.span.at + equals + 1,
                  word.span.length - std::min<uint64_t>(word.span.length, equals + 1)};
  return {std::move(key), key_span, value_of(value, word.quoted, value.origin().value_or(rest))};
}

// The words behind the flag at `i`, which is moved to the last of them; a script's name after a switch such as
// --multi_gpu is none of them.
Node value_behind(const std::vector<Word>& all, size_t& i) {
  const Word& flag = all[i];
  const size_t most = takes_one_value(flag) ? 1 : all.size();
  std::vector<Node> given;
  while (i + 1 < all.size() && given.size() < most && !is_flag(all[i + 1])) {
    const Word& next = all[i + 1];
    if (next.text.size() > 3 && next.text.characters.ends_with(".py") && !next.quoted) break;
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
std::optional<Member> flag_at(const std::vector<Word>& all, size_t& i) {
  const Word& word = all[i];
  const std::string& text = word.text.characters;
  const size_t dashes = text.find_first_not_of('-');
  if (dashes == std::string::npos) return std::nullopt;
  const size_t equals = text.find('=');
  std::string key = text.substr(dashes, equals == std::string::npos ? equals : equals - dashes);
  std::replace(key.begin(), key.end(), '-', '_');
  if (equals == std::string::npos) return Member{std::move(key), word.span, value_behind(all, i)};
  return assigned(std::move(key), word.span, word, equals);
}

// "trl.scripts.sft" behind -m is the file trl/scripts/sft.py, and what follows it stands behind that.
void add_module(const Member& member, Node& words) {
  const bool module = member.key == "m" || member.key == "module";
  const Node& first =
      member.value.is_list() && !member.value.items.empty() ? member.value.items.front() : member.value;
  const std::string& name = first.raw;
  if (!module || name.empty() || !ascii::is_letter(name[0]) ||
      !std::all_of(name.begin(), name.end(), [](char c) { return ascii::is_word(c) || c == '.'; }))
    return;
  std::string file = name;
  std::replace(file.begin(), file.end(), '.', '/');
  words.items.push_back(scalar_node(file + ".py", file + ".py", first.quoted, first.span));
  for (size_t i = 1; i < member.value.items.size(); ++i) words.items.push_back(member.value.items[i]);
}

// The JSON in a file that the script writes itself, where a value names it.
void put_files(const std::vector<std::pair<std::string, Text>>& files, Node& root) {
  for (Member& member : root.members) {
    if (!member.value.is_scalar() || member.value.raw.empty()) continue;
    const auto written = std::find_if(files.begin(), files.end(),
                                      [&](const auto& file) { return file.first == member.value.raw; });
    if (written == files.end()) continue;
    const size_t begin = written->second.characters.find_first_not_of(" \t\r\n");
    if (begin == std::string::npos || written->second.characters[begin] != '{') continue;
    Node inner = value_of(written->second.part(begin), false, member.value.span);
    if (inner.is_map()) member.value = std::move(inner);
  }
}

}  // namespace

Document read_shell(std::string_view text) {
  Document document;
  document.language = Language::shell;
  Node& root = document.root;
  root.kind = Node::Kind::map;
  Node words;
  words.kind = Node::Kind::list;
  const auto given = read_job(text, root);
  const shell::Followed run = shell::follow(text, given);
  for (const shell::Assigned& one : run.variables)
    root.members.push_back(
        {"$" + one.name, one.name_span, value_of(one.value.text, one.value.quoted, one.value.span)});
  for (size_t i = 0; i < run.command.size(); ++i) {
    const Word& word = run.command[i];
    if (is_flag(word)) {
      auto member = flag_at(run.command, i);
      if (!member) continue;
      add_module(*member, words);
      root.members.push_back(std::move(*member));
    } else if (const auto equals = shell::assignment(word.text.characters)) {
      // torchtune and Hydra write key=value without dashes.
      root.members.push_back(
          assigned(word.text.characters.substr(0, *equals), {word.span.at, *equals}, word, *equals));
    } else {
      words.items.push_back(scalar_node(word.text.characters, word.text.characters, word.quoted, word.span));
    }
  }
  put_files(run.files, root);
  document.card = card_of_job(root);
  if (!words.items.empty()) root.members.push_back({"$words", {}, std::move(words)});
  return document;
}

}  // namespace plimsoll::exchange
