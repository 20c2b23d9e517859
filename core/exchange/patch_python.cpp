// Keyword arguments and dict members of Python source replaced, added and removed in the text.
#include "core/exchange/export.h"
#include "core/exchange/patch_sites.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

// Behind a quoted string or a comment that begins at `at`; `at` itself when none does.
size_t step_over(std::string_view text, size_t at) {
  if (text[at] == '#') return line_end(text, at);
  if (text[at] != '"' && text[at] != '\'') return at;
  const std::string quotes(3, text[at]);
  const bool triple = text.substr(at, 3) == quotes;
  size_t i = at + (triple ? 3 : 1);
  while (i < text.size()) {
    if (text[i] == '\\') {
      i += 2;
    } else if (triple ? text.substr(i, 3) == quotes : text[i] == text[at]) {
      return i + (triple ? 3 : 1);
    } else {
      ++i;
    }
  }
  return text.size();
}

// Behind the value of an argument or a dict member whose key begins at `key`: at its comma or the bracket
// that closes the call, without the blanks before it.
size_t argument_end(std::string_view text, size_t key) {
  size_t level = 0, end = key;
  for (size_t i = key; i < text.size();) {
    const size_t over = step_over(text, i);
    if (over != i) {
      if (text[i] != '#') end = over;
      i = over;
      continue;
    }
    const char c = text[i];
    if (level == 0 && (c == ',' || c == ')' || c == ']' || c == '}')) return end;
    if (c == '(' || c == '[' || c == '{') ++level;
    if ((c == ')' || c == ']' || c == '}') && level > 0) --level;
    ++i;
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') end = i;
  }
  return end;
}

bool inside_call(const Member& member, const Site& site, const PatchContext&) {
  const Span span = site.map->span;
  return member.key_span.length > 0 && member.key_span.at > span.at &&
         member.key_span.at < span.at + span.length;
}

std::string torch_or(std::string_view old, const std::string& key, const Json& value) {
  if (value.is_string() && old.rfind("torch.", 0) == 0) return "torch." + value.get<std::string>();
  if (value.is_string() && !old.empty() && (old[0] == '"' || old[0] == '\''))
    return in_quotes(old, json::write(value), value);
  return literal(Language::python, key, value);
}

std::string pair(const Site& site, std::string_view text, const std::string& key, const Json& value) {
  const bool dict = site.map->span.at < text.size() && text[site.map->span.at] == '{';
  std::string written = literal(Language::python, key, value);
  // Transformers takes the word too.
  if (written.starts_with("torch.") && text.find("import torch") == std::string_view::npos)
    written = json::write(value);
  return dict ? json::write(Json(key)) + ": " + written : key + "=" + written;
}

bool remove(const Member& member, std::string_view text, std::vector<Edit>& edits) {
  const size_t start = member.key_span.at;
  if (member.key_span.length == 0) return false;
  size_t end = argument_end(text, start), from = start;
  const bool comma = end < text.size() && text[end] == ',';
  if (comma) ++end;
  const size_t line = line_start(text, start), stop = line_end(text, end);
  size_t rest = end;
  while (rest < stop && (text[rest] == ' ' || text[rest] == '\t' || text[rest] == '\r')) ++rest;
  if (is_blank(text, line, start) && (rest == stop || text[rest] == '#')) {
    edits.push_back({line, std::min(stop + 1, text.size()) - line, ""});
    return true;
  }
  if (comma) {
    end = rest;
  } else {
    while (from > 0 && (text[from - 1] == ' ' || text[from - 1] == '\n' || text[from - 1] == ',')) --from;
  }
  edits.push_back({from, end - from, ""});
  return true;
}

}  // namespace

void add_python_argument(const Member& beside, const std::string& written, const PatchContext& context,
                         std::vector<Edit>& edits) {
  const std::string_view text = context.text;
  const size_t start = beside.key_span.at, end = argument_end(text, start);
  const std::string margin(indentation(text, start));
  if (!is_blank(text, line_start(text, start), start)) {
    edits.push_back({end, 0, ", " + written});
    return;
  }
  // An argument a line: the new one gets a line of its own, below the comment of this one.
  const size_t stop = line_end(text, end);
  const bool comma = end < text.size() && text[end] == ',';
  size_t rest = end + (comma ? 1 : 0);
  while (rest < stop && (text[rest] == ' ' || text[rest] == '\t' || text[rest] == '\r')) ++rest;
  if (rest < stop && text[rest] != '#') {
    edits.push_back({end, 0, "," + context.newline + margin + written});
    return;
  }
  if (!comma) edits.push_back({end, 0, ","});
  size_t line = stop;
  if (line > 0 && text[line - 1] == '\r') --line;
  edits.push_back({line, 0, context.newline + margin + written + ","});
}

bool write_python_site(const Site& site, const PatchContext& context, std::vector<Edit>& edits) {
  const std::string_view text = context.text;
  for (const auto& [member, value] : site.replaced) {
    const Span span = member->value.span;
    if (span.length == 0) return false;
    edits.push_back({span.at, span.length, torch_or(text.substr(span.at, span.length), member->key, value)});
  }
  for (const Member* member : site.removed) {
    if (!remove(*member, text, edits)) return false;
  }
  if (site.added.empty()) return true;
  const Span span = site.map->span;
  if (site.path.empty()) return write_python_calls(site, context, edits);
  if (span.length < 2) return false;
  for (const auto& [key, value] : site.added.items()) {
    if (key.empty() || key[0] == '$') return false;
    const std::string written = pair(site, text, key, value);
    const Member* beside = neighbour_of(site, context, key, inside_call);
    if (beside != nullptr) {
      add_python_argument(*beside, written, context, edits);
      continue;
    }
    if (site.added.size() > 1) return false;
    // A call without arguments of its own.
    const size_t close = span.at + span.length - 1;
    edits.push_back({close, 0, (is_blank(text, span.at + 1, close) ? "" : ", ") + written});
  }
  return true;
}

}  // namespace plimsoll::exchange
