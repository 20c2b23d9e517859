// Flags and variables of a command line replaced, added and removed in the text.
#include "core/exchange/export.h"
#include "core/exchange/formats/transformers.h"
#include "core/exchange/patch_sites.h"
#include "core/exchange/render.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

size_t end_of(const Member& member, std::string_view text) {
  const Span value = member.value.span;
  const size_t key = member.key_span.at + member.key_span.length, end = value.at + value.length;
  if (value.length == 0 || end <= key) return key;
  // JSON stands in quotes, which are not its own.
  const bool quoted = value.at > 0 && end < text.size() && text[end] == text[value.at - 1] &&
                      (text[end] == '\'' || text[end] == '"');
  return quoted ? end + 1 : end;
}

bool of_launcher(std::string_view key) {
  for (const Row& row : launcher_table.rows) {
    if (row.key == key) return true;
  }
  return in_list(key, launcher_table.irrelevant) || in_list(key, launcher_table.implied);
}

bool is_flag(const Member& member, const Site&, const PatchContext& context) {
  return member.key_span.length > 0 && member.key[0] != '$' && !of_launcher(member.key) &&
         member.key_span.at < context.text.size();
}
bool is_launcher_flag(const Member& member, const Site&, const PatchContext&) {
  return member.key_span.length > 0 && member.key[0] != '$' && of_launcher(member.key);
}

// --max-length and --max_length mean the same; the file's own way stays.
std::string flag_name(std::string key, const Member& beside, std::string_view text) {
  const std::string_view old = text.substr(beside.key_span.at, beside.key_span.length);
  if (old[0] != '-') return key;
  const size_t name = old.find_first_not_of('-');
  if (name != std::string_view::npos && old.find('-', name) != std::string_view::npos) {
    for (char& c : key) c = c == '_' ? '-' : c;
  }
  return std::string(name == std::string_view::npos ? 2 : name, '-') + key;
}

// Off, such a flag is one that is not there.
bool takes_no_word(std::string_view key) { return in_list(key, bare_launcher_flags); }

bool add(const std::string& key, const Json& value, const Site& site, const PatchContext& context,
         std::vector<Edit>& edits) {
  const std::string_view text = context.text;
  if (key[0] == '$') {
    const Node* words = site.map->find("$words");
    const size_t at = words == nullptr || words->items.empty() ? 0 : words->items[0].span.at;
    edits.push_back(
        {line_start(text, at), 0,
         "export " + key.substr(1) + "=" + literal(Language::shell, key, value) + context.newline});
    return true;
  }
  if (takes_no_word(key) && value != Json(true)) return true;
  const Member* beside = neighbour_of(site, context, key, of_launcher(key) ? is_launcher_flag : is_flag);
  if (beside == nullptr) return false;
  const size_t end = end_of(*beside, text), start = beside->key_span.at;
  const bool bare = text[start] != '-';
  const std::string word = literal(Language::shell, key, value);
  std::string written = bare ? key + "=" + word : flag_name(key, *beside, text);
  if (!bare && !takes_no_word(key)) written += " " + word;
  const bool own_line = is_blank(text, line_start(text, start), start) && line_start(text, start) > 0;
  const std::string between =
      own_line ? " \\" + context.newline + std::string(indentation(text, start)) : " ";
  edits.push_back({end, 0, between + written});
  return true;
}

}  // namespace

bool write_shell_site(const Site& site, const PatchContext& context, std::vector<Edit>& edits) {
  // JSON in quotes, as of --gradient_checkpointing_kwargs.
  if (!site.path.empty()) return write_json_site(site, context, edits);
  const std::string_view text = context.text;
  for (const auto& [member, value] : site.replaced) {
    const Span span = member->value.span;
    std::string word = literal(Language::shell, member->key, value);
    if (span.length == 0 && takes_no_word(member->key)) {
      if (value != Json(true)) return false;
      continue;
    }
    if (span.length == 0) {
      edits.push_back({member->key_span.at + member->key_span.length, 0, " " + word});
      continue;
    }
    const std::string_view old = text.substr(span.at, span.length);
    if (value.is_boolean() && (old == "True" || old == "False")) word = value.get<bool>() ? "True" : "False";
    edits.push_back({span.at, span.length, in_quotes(old, std::move(word), value)});
  }
  for (const Member* member : site.removed) {
    if (member->key_span.length == 0) return false;
    size_t from = member->key_span.at;
    while (from > 0 && std::string_view(" \t\r\n\\").find(text[from - 1]) != std::string_view::npos) --from;
    edits.push_back({from, end_of(*member, text) - from, ""});
  }
  for (const auto& [key, value] : site.added.items()) {
    if (!add(key, value, site, context, edits)) return false;
  }
  return true;
}

}  // namespace plimsoll::exchange
