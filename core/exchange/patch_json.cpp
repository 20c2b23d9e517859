// Members of JSON objects replaced, added and removed in the text.

#include "core/exchange/patch_sites.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

size_t end_of(const Node& node) { return node.span.at + node.span.length; }

bool any_member(const Member& member, const Site&, const PatchContext&) { return member.key_span.length > 0; }

// A run of members goes with the comma before it, or behind it when it is the first.
void remove_runs(const Site& site, std::vector<Edit>& edits) {
  const std::vector<Member>& members = site.map->members;
  for (size_t i = 0; i < members.size(); ++i) {
    if (!site.is_removed(members[i])) continue;
    size_t last = i;
    while (last + 1 < members.size() && site.is_removed(members[last + 1])) ++last;
    size_t from = members[i].key_span.at, to = end_of(members[last].value);
    if (i > 0) {
      from = end_of(members[i - 1].value);
    } else if (last + 1 < members.size()) {
      to = members[last + 1].key_span.at;
    }
    edits.push_back({from, to - from, ""});
    i = last;
  }
}

}  // namespace

bool write_json_site(const Site& site, const PatchContext& context, std::vector<Edit>& edits) {
  const std::string_view text = context.text;
  for (const auto& [member, value] : site.replaced) {
    if (member->value.span.length == 0) return false;
    edits.push_back({member->value.span.at, member->value.span.length, json::write(value)});
  }
  remove_runs(site, edits);
  if (site.added.empty()) return true;
  const Span span = site.map->span;
  if (span.length < 2) return false;
  for (const auto& [key, value] : site.added.items()) {
    const std::string pair = json::write(Json(key)) + ": " + json::write(value);
    const Member* beside = neighbour_of(site, context, key, any_member);
    if (beside == nullptr) {
      if (!site.map->members.empty()) return false;
      edits.push_back({span.at + 1, 0, pair});
      if (site.added.size() > 1) return false;
      continue;
    }
    const size_t start = beside->key_span.at;
    const bool own_line = is_blank(text, line_start(text, start), start);
    const std::string between =
        own_line ? "," + context.newline + std::string(indentation(text, start)) : ", ";
    edits.push_back({end_of(beside->value), 0, between + pair});
  }
  return true;
}

}  // namespace plimsoll::exchange
