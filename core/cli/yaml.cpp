#include "core/cli/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <map>
#include <sstream>

namespace plimsoll::cli {

namespace {

using exchange::Document;
using exchange::Member;
using exchange::Node;
using exchange::Span;

constexpr size_t most_nodes = 100000;
constexpr size_t most_keys = 2000;

// yaml-cpp tells where a scalar begins; where it ends is read off the text.
uint64_t scalar_length(const std::string& text, uint64_t at, const std::string& value, bool plain) {
  if (at >= text.size()) return 0;
  const char first = text[at];
  if (!plain && (first == '"' || first == '\'')) {
    size_t i = at + 1;
    while (i < text.size()) {
      if (first == '"' && text[i] == '\\') {
        i += 2;
        continue;
      }
      if (text[i] == first) {
        if (first == '\'' && i + 1 < text.size() && text[i + 1] == '\'') {
          i += 2;
          continue;
        }
        break;
      }
      ++i;
    }
    return i + 1 - at;
  }
  if (!plain) return 0;  // a block scalar: it is not replaced
  return text.compare(at, value.size(), value) == 0 ? value.size() : 0;
}

class Builder : public YAML::EventHandler {
 public:
  Builder(const std::string& text, Document& document) : text_(text), document_(document) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    // A key without a value: the place behind it is where one would stand.
    add(exchange::yaml_scalar("", true, {place(mark), 0}), anchor);
  }
  void OnAlias(const YAML::Mark&, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) return fail("an alias refers to itself");
    count(found->second);
    if (document_.errors.empty()) put(found->second);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const bool plain = tag == "?";
    const uint64_t at = place(mark);
    if (tag.size() > 1 && tag != "tag:yaml.org,2002:str") return fail("it holds the tag " + tag);
    add(exchange::yaml_scalar(value, plain, {at, scalar_length(text_, at, value, plain)}), anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Node::Kind::list, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Node::Kind::map, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Node node;
    YAML::anchor_t anchor;
    bool has_key = false;
    std::string key;
    Span key_span;
  };

  uint64_t place(const YAML::Mark& mark) const {
    return mark.pos < 0 ? 0 : std::min<uint64_t>(static_cast<uint64_t>(mark.pos), text_.size());
  }
  void fail(const std::string& why) {
    if (document_.errors.empty()) {
      document_.errors.push_back({"not_yaml", "", "This YAML is not read: " + why + ".",
                                  "maps, lists and scalars without tags, 100,000 in all"});
    }
  }
  void count(const Node& node) {
    if (++nodes_ > most_nodes) return fail("its anchors make it larger than 100,000 values");
    for (const Node& item : node.items) {
      if (document_.errors.empty()) count(item);
    }
    for (const Member& member : node.members) {
      if (document_.errors.empty()) count(member.value);
    }
  }
  void open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (tag.size() > 1) fail("it holds the tag " + tag);
    Open made;
    made.node.kind = kind;
    made.node.span.at = place(mark);
    made.anchor = anchor;
    open_.push_back(std::move(made));
  }
  void close() {
    if (open_.empty()) return;
    Open done = std::move(open_.back());
    open_.pop_back();
    if (done.node.is_list() && !done.node.items.empty()) {
      const Span last = done.node.items.back().span;
      uint64_t end = last.at + last.length;
      // "[a, b]": the bracket belongs to the value.
      if (done.node.span.at < text_.size() && text_[done.node.span.at] == '[') {
        end = text_.find(']', end) == std::string::npos ? end : text_.find(']', end) + 1;
      }
      if (end > done.node.span.at) done.node.span.length = end - done.node.span.at;
    } else if (done.node.is_list() && text_.compare(done.node.span.at, 2, "[]") == 0) {
      done.node.span.length = 2;
    }
    add(std::move(done.node), done.anchor);
  }
  void add(Node node, YAML::anchor_t anchor) {
    if (!document_.errors.empty()) return;
    if (++nodes_ > most_nodes) return fail("it holds more than 100,000 values");
    if (anchor != 0) anchors_[anchor] = node;
    put(std::move(node));
  }
  void put(Node node) {
    if (open_.empty()) {
      if (have_root_) return fail("it holds two documents");
      have_root_ = true;
      document_.root = std::move(node);
      return;
    }
    Open& top = open_.back();
    if (top.node.is_list()) {
      top.node.items.push_back(std::move(node));
      return;
    }
    if (!top.has_key) {
      top.has_key = true;
      if (!node.is_scalar()) return fail("a key is not a word");
      top.key = node.raw;
      top.key_span = node.span;
      return;
    }
    top.has_key = false;
    if (top.key == "<<") return merge(top.node, node);
    if (top.node.members.size() >= most_keys) return fail("a map of it has more than 2,000 keys");
    if (top.node.find(top.key) != nullptr) {
      document_.errors.push_back(
          {"duplicate_key", "/" + top.key,
           "The key \"" + top.key + "\" is written twice; it is not clear which one is meant.",
           "each key once"});
      return;
    }
    // A key without a value: behind the colon.
    if (node.is_scalar() && node.span.length == 0 && !node.quoted && node.raw.empty()) {
      const uint64_t end = top.key_span.at + top.key_span.length;
      const size_t colon = text_.find(':', end);
      if (colon != std::string::npos) node.span.at = colon + 1;
    }
    top.node.members.push_back({top.key, top.key_span, std::move(node)});
  }
  static void merge(Node& into, const Node& from) {
    for (const Node& item : from.items) merge(into, item);
    for (const Member& member : from.members) {
      if (into.find(member.key) == nullptr) into.members.push_back(member);
    }
  }

  const std::string& text_;
  Document& document_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Node> anchors_;
  size_t nodes_ = 0;
  bool have_root_ = false;
};

}  // namespace

Document read_yaml(const std::string& text) {
  Document document;
  document.language = exchange::Language::yaml;
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    Builder builder(text, document);
    while (document.errors.empty() && parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& problem) {
    document.errors.push_back({"not_yaml", "",
                               "This is not YAML: line " + std::to_string(problem.mark.line + 1) +
                                   ", column " + std::to_string(problem.mark.column + 1) + ": " +
                                   problem.msg + ".",
                               "YAML, JSON, Python or a command line"});
  }
  return document;
}

Document read_document(const std::string& text, const std::string& command) {
  Document document = exchange::read_text(text, command);
  if (document.errors.empty() && document.language == exchange::Language::yaml) return read_yaml(text);
  return document;
}

}  // namespace plimsoll::cli
