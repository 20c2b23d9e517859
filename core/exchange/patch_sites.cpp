#include "core/exchange/patch_sites.h"

#include <algorithm>

#include "core/exchange/export.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

Site& site_of(std::vector<Site>& sites, const Node& map, const std::string& path) {
  for (Site& site : sites) {
    if (site.map == &map) return site;
  }
  Site made;
  made.map = &map;
  made.path = path;
  sites.push_back(std::move(made));
  return sites.back();
}

void plant(Json& place, std::string_view path, const Json& value) {
  Json* inner = &place;
  for (size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
    Json& next = (*inner)[std::string(path.substr(0, dot))];
    if (!next.is_object()) next = Json::object();
    inner = &next;
    path.remove_prefix(dot + 1);
  }
  (*inner)[std::string(path)] = value;
}

// A key without a value that becomes a map.
Json& replacement(Site& site, const Member& member) {
  for (auto& [old, value] : site.replaced) {
    if (old == &member) return value;
  }
  site.replaced.emplace_back(&member, Json::object());
  return site.replaced.back().second;
}

void settle(const KeyChange& change, const Node& root, std::vector<Site>& sites) {
  const Node* map = &root;
  std::string path;
  std::string_view rest = change.key;
  while (true) {
    const Member *whole = nullptr, *part = nullptr;
    for (const Member& member : map->members) {
      const std::string_view key = member.key;
      if (rest == key && whole == nullptr) whole = &member;
      if (part == nullptr && rest.size() > key.size() && rest.substr(0, key.size()) == key &&
          rest[key.size()] == '.')
        part = &member;
    }
    if (whole != nullptr) {
      Site& site = site_of(sites, *map, path);
      if (change.value) {
        site.replaced.emplace_back(whole, *change.value);
      } else {
        site.removed.push_back(whole);
      }
      return;
    }
    if (part == nullptr) break;
    path += (path.empty() ? "" : ".") + part->key;
    rest.remove_prefix(part->key.size() + 1);
    if (!part->value.is_map()) {
      if (change.value) plant(replacement(site_of(sites, *map, path), *part), rest, *change.value);
      return;
    }
    map = &part->value;
  }
  if (change.value) plant(site_of(sites, *map, path).added, rest, *change.value);
}

// A map that loses all its members goes itself.
void remove_empty(const Node& node, const std::string& path, std::vector<Site>& sites) {
  for (const Member& member : node.members) {
    if (!member.value.is_map() || member.value.members.empty()) continue;
    const std::string inner = path.empty() ? member.key : path + "." + member.key;
    remove_empty(member.value, inner, sites);
    for (size_t i = 0; i < sites.size(); ++i) {
      if (sites[i].map != &member.value || !sites[i].added.empty() ||
          sites[i].removed.size() < member.value.members.size())
        continue;
      sites.erase(sites.begin() + static_cast<std::ptrdiff_t>(i));
      site_of(sites, node, path).removed.push_back(&member);
      break;
    }
  }
}

}  // namespace

bool Site::is_removed(const Member& member) const {
  return std::find(removed.begin(), removed.end(), &member) != removed.end();
}

size_t line_start(std::string_view text, size_t at) {
  const size_t feed = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  return feed == std::string_view::npos ? 0 : feed + 1;
}

size_t line_end(std::string_view text, size_t at) { return std::min(text.find('\n', at), text.size()); }

std::string_view indentation(std::string_view text, size_t at) {
  const size_t start = line_start(text, at);
  size_t end = start;
  while (end < text.size() && (text[end] == ' ' || text[end] == '\t')) ++end;
  return text.substr(start, end - start);
}

bool is_blank(std::string_view text, size_t from, size_t to) {
  for (size_t i = from; i < to && i < text.size(); ++i) {
    if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r') return false;
  }
  return true;
}

std::string in_quotes(std::string_view old, std::string written, const Json& value) {
  if (!value.is_string() || old.empty()) return written;
  const std::string& word = value.get_ref<const std::string&>();
  const bool simple = word.find_first_of("'\"\\\n") == std::string::npos;
  if (simple && (old[0] == '\'' || old[0] == '"')) return old[0] + word + old[0];
  return written;
}

const Member* neighbour_of(const Site& site, const PatchContext& context, std::string_view key,
                           bool (*usable)(const Member&, const Site&, const PatchContext&)) {
  const auto order = [&](std::string_view name) {
    const std::string path = site.path.empty() ? std::string(name) : site.path + "." + std::string(name);
    return order_of(context.format, path);
  };
  const size_t none = order_of(context.format, "\n"), mine = order(key);
  const Member *before = nullptr, *behind = nullptr, *last = nullptr;
  size_t nearest_before = 0, nearest_behind = none;
  for (const Member& member : site.map->members) {
    if (site.is_removed(member) || !usable(member, site, context)) continue;
    last = &member;
    const size_t its = order(member.key);
    if (its == none || mine == none) continue;
    if (its <= mine && its >= nearest_before) {
      nearest_before = its;
      before = &member;
    } else if (its > mine && its < nearest_behind) {
      nearest_behind = its;
      behind = &member;
    }
  }
  return before != nullptr ? before : behind != nullptr ? behind : last;
}

bool write_keys(const Document& document, const Format& format, std::string_view text,
                const std::vector<KeyChange>& changes, std::vector<Edit>& edits) {
  std::vector<Site> sites;
  for (const KeyChange& change : changes) settle(change, document.root, sites);
  remove_empty(document.root, "", sites);
  const PatchContext context{text, format, document.root,
                             text.find("\r\n") == std::string_view::npos ? "\n" : "\r\n"};
  edits.clear();
  for (const Site& site : sites) {
    bool written = false;
    switch (document.language) {
      case Language::yaml:
        written = write_yaml_site(site, context, edits);
        break;
      case Language::json:
        written = write_json_site(site, context, edits);
        break;
      case Language::python:
        written = write_python_site(site, context, edits);
        break;
      case Language::shell:
        written = write_shell_site(site, context, edits);
        break;
      case Language::link:
      case Language::none:
        break;
    }
    if (!written) return false;
  }
  std::stable_sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) {
    return a.at != b.at ? a.at < b.at : a.length < b.length;
  });
  // One value that stands for several keys is changed once.
  for (size_t i = 1; i < edits.size();) {
    const Edit &before = edits[i - 1], &here = edits[i];
    if (here.length > 0 && before.at == here.at && before.length == here.length && before.text == here.text) {
      edits.erase(edits.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    if (before.at + before.length > here.at || here.at + here.length > text.size()) return false;
    ++i;
  }
  return edits.empty() || edits.back().at + edits.back().length <= text.size();
}

std::string edited(std::string_view text, const std::vector<Edit>& edits) {
  std::string out;
  size_t at = 0;
  for (const Edit& edit : edits) {
    out += text.substr(at, edit.at - at);
    out += edit.text;
    at = edit.at + edit.length;
  }
  return out + std::string(text.substr(at));
}

}  // namespace plimsoll::exchange
