// A share link: "#v=1&model=mistral-7b-v0.3&training.max_length=512&c=k3x9", as the page writes it
// (web/src/link.ts). The last pair is a checksum over the others, so that half a link is not taken for a
// whole one.
#include "core/exchange/languages.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') return (c | 0x20) - 'a' + 10;
  return -1;
}

std::string unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex(text[i + 1]) >= 0 && hex(text[i + 2]) >= 0) {
      out += static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

// FNV-1a over the decoded pairs, four digits to base 36.
std::string checksum(std::string_view pairs) {
  uint32_t hash = 0x811c9dc5;
  for (const char c : pairs) hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193U;
  hash %= 36 * 36 * 36 * 36;
  std::string digits(4, '0');
  for (size_t i = 4; i-- > 0; hash /= 36) digits[i] = "0123456789abcdefghijklmnopqrstuvwxyz"[hash % 36];
  return digits;
}

bool is_word(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && letter(text[0]) && text.find_first_of(",\"") == std::string_view::npos &&
         text != "true" && text != "false" && text != "null";
}

Node value_node(const std::string& text, Span span) {
  if (is_word(text)) return scalar_node(text, text, true, span);
  json::Errors ignored;
  if (auto value = json::parse(text, ignored); value && ignored.empty()) {
    Document inner = read_json(text);
    inner.root.span = span;
    return inner.root;
  }
  if (text.find(',') == std::string::npos) return scalar_node(text, text, true, span);
  Node list;
  list.kind = Node::Kind::list;
  list.span = span;
  std::string_view rest = text;
  if (rest.back() == ',') rest.remove_suffix(1);
  while (true) {
    const size_t comma = rest.find(',');
    const std::string item(rest.substr(0, comma));
    list.items.push_back(scalar_node(item, item, true, span));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return list;
}

// "~1" is a dot inside a key, "~0" a tilde.
std::string key_of(std::string_view part) {
  std::string key;
  for (size_t i = 0; i < part.size(); ++i) {
    if (part[i] == '~' && i + 1 < part.size() && (part[i + 1] == '0' || part[i + 1] == '1')) {
      key += part[++i] == '0' ? '~' : '.';
    } else {
      key += part[i];
    }
  }
  return key;
}

bool plant(Node& tree, std::string_view path, Node value, Span key_span, int depth) {
  const size_t dot = path.find('.');
  const std::string key = key_of(path.substr(0, dot));
  tree.kind = Node::Kind::map;
  Member* place = nullptr;
  for (Member& member : tree.members) {
    if (member.key == key) place = &member;
  }
  if (dot == std::string_view::npos) {
    if (place != nullptr) return false;
    tree.members.push_back({key, key_span, std::move(value)});
    return true;
  }
  if (place == nullptr) {
    tree.members.push_back({key, key_span, Node()});
    place = &tree.members.back();
    place->value.kind = Node::Kind::map;
  }
  return depth < 64 && place->value.is_map() &&
         plant(place->value, path.substr(dot + 1), std::move(value), key_span, depth + 1);
}

}  // namespace

Document read_link(std::string_view text) {
  Document document;
  document.language = Language::link;
  const auto refuse = [&document](const std::string& why) {
    document.errors.push_back(
        {"broken_link", "", "This link could not be read: " + why + ".", "a link that Plimsoll made"});
    return document;
  };
  size_t at = text.find("#v=") + 1;
  size_t end = text.find_first_of(" \t\r\n\"'<>)", at);
  if (end == std::string_view::npos) end = text.size();
  document.root.kind = Node::Kind::map;
  std::string pairs, sum;
  bool first = true;
  while (at < end) {
    const size_t stop = std::min(text.find('&', at), end);
    const std::string_view pair = text.substr(at, stop - at);
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos || equals == 0) return refuse("it is damaged");
    const std::string key = unescape(pair.substr(0, equals));
    const std::string value = unescape(pair.substr(equals + 1));
    const Span span{at + equals + 1, pair.size() - equals - 1};
    const bool last = stop == end;
    if (first && value != "1") return refuse("a newer version of Plimsoll made it");
    if (last && key == "c") {
      sum = value;
    } else {
      pairs += (pairs.empty() ? "" : "&") + key + "=" + value;
      if (!first && !plant(document.root, key, value_node(value, span), {at, equals}, 0))
        return refuse("it names the same setting twice");
    }
    first = false;
    at = stop + 1;
  }
  if (sum != checksum(pairs))
    return refuse("it is incomplete or was changed on the way (its checksum does not match)");
  return document;
}

}  // namespace plimsoll::exchange
