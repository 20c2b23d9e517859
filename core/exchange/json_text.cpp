// JSON goes through the strict reader; a second walk over the same characters notes where each value stands.
#include "core/exchange/languages.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

// The text is known to be JSON, so nothing is checked here.
class Walker {
 public:
  explicit Walker(std::string_view text) : text_(text) {}

  Node walk(const Json& value) {
    skip_space();
    Node node;
    const size_t start = at_;
    if (value.is_object()) {
      node.kind = Node::Kind::map;
      ++at_;
      for (const auto& [key, member] : value.items()) {
        skip_separators();
        const Span key_span = string_span();
        skip_separators();
        node.members.push_back({key, key_span, walk(member)});
      }
      skip_to_end();
    } else if (value.is_array()) {
      node.kind = Node::Kind::list;
      ++at_;
      for (const Json& item : value) {
        skip_separators();
        node.items.push_back(walk(item));
      }
      skip_to_end();
    } else if (value.is_string()) {
      const Span span = string_span();
      return scalar_node(value, value.get<std::string>(), true, span);
    } else {
      while (at_ < text_.size() && std::string_view(",]} \t\r\n").find(text_[at_]) == std::string_view::npos)
        ++at_;
      return scalar_node(value, std::string(text_.substr(start, at_ - start)), false, {start, at_ - start});
    }
    node.span = {start, at_ - start};
    return node;
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  void skip_separators() {
    while (at_ < text_.size() && std::string_view(" \t\r\n,:").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  void skip_to_end() {
    skip_space();
    ++at_;
  }
  Span string_span() {
    const size_t start = at_++;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    ++at_;
    return {start, at_ - start};
  }
  std::string_view text_;
  size_t at_ = 0;
};

// Of an index only the total is of interest; its map of tensors is not worth a tree.
Document read_index(std::string_view text) {
  Document document;
  document.language = Language::json;
  size_t at = text.find(':', text.find("\"total_size\""));
  while (at < text.size() && (text[at] < '0' || text[at] > '9') && text[at] != ',' && text[at] != '}') ++at;
  const size_t start = at;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9' && at < start + 18) ++at;
  const std::string digits(text.substr(start, at - start));
  Node metadata, map;
  metadata.kind = map.kind = document.root.kind = Node::Kind::map;
  Json size;
  if (!digits.empty()) size = static_cast<uint64_t>(std::stoull(digits));
  metadata.members.push_back({"total_size", {}, scalar_node(size, digits, false, {start, at - start})});
  document.root.members.push_back({"metadata", {}, std::move(metadata)});
  document.root.members.push_back({"weight_map", {}, std::move(map)});
  return document;
}

}  // namespace

Document read_json(std::string_view text) {
  if (text.size() > (size_t{64} << 10) && is_weight_index(text)) return read_index(text);
  Document document;
  document.language = Language::json;
  size_t mark = 0;
  if (text.substr(0, 3) == "\xEF\xBB\xBF") mark = 3;
  const auto value = json::parse(text.substr(mark), document.errors);
  if (!value || !document.errors.empty()) return document;
  std::string padded(mark, ' ');
  padded += text.substr(mark);
  document.root = Walker(padded).walk(*value);
  return document;
}

}  // namespace plimsoll::exchange
