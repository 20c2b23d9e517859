// Members of YAML maps replaced, added and removed in the text, line by line. Where a block ends is read off
// its indentation, so that both parsers that bring trees (core/cli/yaml.h, web/src/paste/yaml.ts) serve.
#include "core/exchange/export.h"
#include "core/exchange/patch_sites.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

size_t column(std::string_view text, size_t at) { return at - line_start(text, at); }

bool is_flow(const Node& map, std::string_view text) {
  return map.span.at < text.size() && text[map.span.at] == '{';
}

// Behind the last line of a member: the lines that are indented more than its key, and the items of a list
// at the key's own column; not the blank lines and comments that follow.
size_t block_end(std::string_view text, const Member& member) {
  const size_t own = column(text, member.key_span.at);
  size_t end = line_end(text, member.key_span.at);
  for (size_t at = end; at < text.size();) {
    const size_t start = at + 1, stop = line_end(text, start);
    size_t first = start;
    while (first < stop && text[first] == ' ') ++first;
    const bool blank = first >= stop || text[first] == '\r', comment = !blank && text[first] == '#';
    const bool item = first < stop && text[first] == '-' && (first + 1 >= stop || text[first + 1] == ' ');
    const bool inside = first - start > own || (item && first - start == own && member.value.is_list());
    if (!blank && !inside && !(comment && first - start > own)) break;
    // A bracket that closes a flow list may stand in the key's own column.
    if (!blank && !comment && inside) end = stop;
    at = stop;
    if (start >= text.size()) break;
  }
  return end;
}

bool in_place(const Member& member, const Site& site, const PatchContext& context) {
  const size_t at = member.key_span.at;
  if (member.key_span.length == 0 || at < site.map->span.at) return false;
  if (is_flow(*site.map, context.text)) return true;
  // The members of a merged map stand elsewhere.
  return is_blank(context.text, line_start(context.text, at), at) &&
         column(context.text, at) == column(context.text, site.map->members.front().key_span.at);
}

bool has_block_lists(const Node& node, std::string_view text) {
  for (const Member& member : node.members) {
    const Node& value = member.value;
    if (value.is_list() && !value.items.empty() && value.items[0].is_scalar() &&
        value.span.at < text.size() && text[value.span.at] == '-')
      return true;
    if (value.is_map() && has_block_lists(value, text)) return true;
  }
  return false;
}

// Behind "key:", with the blank or the line end before it.
std::string written(const Json& value, const std::string& margin, bool block_lists,
                    const std::string& newline) {
  if (value.is_object() && !value.empty()) {
    std::string out;
    for (const auto& [key, inner] : value.items()) {
      out += newline + margin + "  " + literal(Language::yaml, "", Json(key)) + ":" +
             written(inner, margin + "  ", block_lists, newline);
    }
    return out;
  }
  if (value.is_array() && !value.empty() && block_lists) {
    std::string out;
    for (const Json& item : value) out += newline + margin + "  - " + literal(Language::yaml, "", item);
    return out;
  }
  return " " + literal(Language::yaml, "", value);
}

// True and true are one word to YAML; the file's own spelling stays.
std::string in_spelling(const std::string& raw, std::string word, const Json& value) {
  if (value.is_boolean() && !raw.empty() && raw[0] >= 'A' && raw[0] <= 'Z')
    word[0] = static_cast<char>(word[0] - 'a' + 'A');
  return word;
}

// The end of "[a, b]" that begins at `at`.
size_t flow_end(std::string_view text, size_t at) {
  size_t level = 0;
  char quote = 0;
  for (size_t i = at; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '{') {
      ++level;
    } else if ((c == ']' || c == '}') && --level == 0) {
      return i + 1;
    }
  }
  return 0;
}

// The items that stay keep their lines; the others go, new ones come behind the last.
bool replace_items(const Member& member, const Json& value, const PatchContext& context,
                   std::vector<Edit>& edits) {
  const std::string_view text = context.text;
  const std::vector<Node>& items = member.value.items;
  std::vector<bool> stays;
  size_t kept = 0;
  for (const Node& item : items) {
    if (!item.is_scalar() || item.span.length == 0) return false;
    bool found = false;
    for (const Json& wanted : value) found = found || wanted == item.value;
    stays.push_back(found);
    kept += found ? 1 : 0;
  }
  if (kept == 0 || items.empty()) return false;
  // An order of its own cannot be kept by lines; nothing here depends on one.
  size_t last = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    const size_t from = line_start(text, items[i].span.at), to = line_end(text, items[i].span.at);
    if (text[indentation(text, from).size() + from] != '-') return false;
    if (stays[i]) {
      last = i;
    } else {
      edits.push_back({from, std::min(to + 1, text.size()) - from, ""});
    }
  }
  std::string more;
  for (const Json& wanted : value) {
    bool found = false;
    for (const Node& item : items) found = found || item.value == wanted;
    if (!found)
      more += context.newline + std::string(indentation(text, items[last].span.at)) + "- " +
              literal(Language::yaml, "", wanted);
  }
  if (!more.empty()) {
    size_t end = line_end(text, items[last].span.at);
    if (end > 0 && text[end - 1] == '\r') --end;
    edits.push_back({end, 0, more});
  }
  return true;
}

bool is_name_end(std::string_view text, size_t at) {
  return at >= text.size() || std::string_view(" \t\r\n,}").find(text[at]) != std::string_view::npos;
}

bool replace(const Member& member, const Json& value, const PatchContext& context, std::vector<Edit>& edits) {
  const std::string_view text = context.text;
  const Node& node = member.value;
  const std::string margin(indentation(text, member.key_span.at));
  if (node.is_scalar() && node.raw.empty() && !node.quoted) {
    const size_t colon = text.find(':', member.key_span.at + member.key_span.length);
    if (colon == std::string_view::npos || member.key_span.length == 0) return false;
    // "key: null" and "key: ~" are as empty as "key:".
    size_t from = colon + 1, to = from;
    while (from < text.size() && text[from] == ' ') ++from;
    for (const std::string_view word : {"null", "Null", "NULL", "~"}) {
      if (text.substr(from, word.size()) == word && is_name_end(text, from + word.size()))
        to = from + word.size();
    }
    edits.push_back({colon + 1, to - colon - 1, written(value, margin, false, context.newline)});
    return true;
  }
  if (value.is_object()) return false;
  if (node.is_scalar()) {
    if (node.span.length == 0) return false;
    const std::string_view old = text.substr(node.span.at, node.span.length);
    if (old[0] == '|' || old[0] == '>') return false;
    std::string word = literal(Language::yaml, "", value);
    edits.push_back({node.span.at, node.span.length,
                     in_spelling(node.raw, in_quotes(old, std::move(word), value), value)});
    return true;
  }
  if (!node.is_list() || node.span.at >= text.size()) return false;
  if (text[node.span.at] == '[') {
    const size_t end = flow_end(text, node.span.at);
    if (end == 0) return false;
    edits.push_back({node.span.at, end - node.span.at, literal(Language::yaml, "", value)});
    return true;
  }
  if (value.is_array() && replace_items(member, value, context, edits)) return true;
  const size_t colon = text.find(':', member.key_span.at + member.key_span.length);
  if (colon == std::string_view::npos) return false;
  edits.push_back(
      {colon + 1, block_end(text, member) - colon - 1, written(value, margin, true, context.newline)});
  return true;
}

void remove(const Member& member, const Site& site, std::string_view text, std::vector<Edit>& edits) {
  if (!is_flow(*site.map, text)) {
    const size_t from = line_start(text, member.key_span.at), to = block_end(text, member);
    edits.push_back({from, std::min(to + 1, text.size()) - from, ""});
    return;
  }
  size_t from = member.key_span.at, to = member.value.span.at + member.value.span.length;
  while (to < text.size() && (text[to] == ' ' || text[to] == ',')) ++to;
  if (to < text.size() && text[to] == '}') {
    while (from > 0 && (text[from - 1] == ' ' || text[from - 1] == ',')) --from;
  }
  edits.push_back({from, to - from, ""});
}

}  // namespace

bool write_yaml_site(const Site& site, const PatchContext& context, std::vector<Edit>& edits) {
  const std::string_view text = context.text;
  for (const auto& [member, value] : site.replaced) {
    if (!replace(*member, value, context, edits)) return false;
  }
  for (const Member* member : site.removed) {
    if (member->key_span.length == 0) return false;
    remove(*member, site, text, edits);
  }
  const bool lists = has_block_lists(context.root, text);
  for (const auto& [key, value] : site.added.items()) {
    const Member* beside = neighbour_of(site, context, key, in_place);
    if (beside == nullptr) return false;
    const std::string name = literal(Language::yaml, "", Json(key));
    if (is_flow(*site.map, text)) {
      const size_t end = beside->value.span.at + beside->value.span.length;
      if (beside->value.span.length == 0) return false;
      edits.push_back({end, 0, ", " + name + ": " + literal(Language::yaml, "", value)});
      continue;
    }
    const std::string margin(indentation(text, beside->key_span.at));
    size_t end = block_end(text, *beside);
    if (end > 0 && end <= text.size() && text[end - 1] == '\r') --end;
    edits.push_back(
        {end, 0, context.newline + margin + name + ":" + written(value, margin, lists, context.newline)});
  }
  return true;
}

}  // namespace plimsoll::exchange
