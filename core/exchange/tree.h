// One tree for every language that settings are written in, with the place of each scalar in the text.
//
//     exchange::Document document = exchange::read_text(text);        // JSON, Python, a command line, a link
//     if (document.language == Language::yaml) document = ...;         // parsed at the edge, see from_wire
//     for (const Leaf& leaf : exchange::leaves(document.root)) print(leaf.path, leaf.node->value);
//
// Positions are bytes in the UTF-8 text, so that a patch replaces the characters of a value and nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.h"

namespace plimsoll::exchange {

struct Span {
  uint64_t at = 0, length = 0;
};

struct Member;

/// A map, a list, or a scalar.
struct Node {
  enum class Kind : uint8_t { scalar, list, map };
  Kind kind = Kind::scalar;
  json::Json value;     ///< of a scalar: null, true, a number or a string
  std::string raw;      ///< of a scalar: its characters without quotes
  bool quoted = false;  ///< written in quotes: a string whatever it looks like
  bool opaque = false;  ///< an expression that is not evaluated; `raw` is its text
  std::string call;  ///< of a map from Python: the name of what was called, "transformers.TrainingArguments"
  bool unnamed = false;  ///< of such a call: it stands in what nothing calls, and something else trains
  Span span;             ///< in the text; zero length: nothing is written (a key without a value)
  /// From Python: the calls that a value comes from, by their places among the members of the root, from 1 on. Of a
  /// member of the root, those that its owner comes from: of "model.to" in "model.to(device)".
  std::vector<size_t> made_by;
  std::vector<Node> items;
  std::vector<Member> members;

  bool is_scalar() const { return kind == Kind::scalar; }
  bool is_map() const { return kind == Kind::map; }
  bool is_list() const { return kind == Kind::list; }
  const Node* find(std::string_view key) const;  ///< member of a map; null when absent
};

struct Member {
  std::string key;
  Span key_span;
  Node value;
};

/// A scalar, or a list of nothing but scalars, and the way to it: "lora.r", "datasets[].path".
struct Leaf {
  std::string path;
  const Node* node;
};
std::vector<Leaf> leaves(const Node& root);

enum class Language : uint8_t { none, json, yaml, python, shell, link };

struct Document {
  Language language = Language::none;
  Node root;
  std::string card;     ///< that a script or a notebook names, and how many: "A100-80GB:2"; "" none
  std::string code;     ///< of a notebook: the script that the spans point into, see notebook.h; else ""
  json::Errors errors;  ///< not_text, too_large, not_json, not_yaml, ...; empty when `root` can be used
};

/// The language of a text, from its characters alone.
Language language_of(std::string_view text);

/// Refuses what no settings file is: NUL bytes, invalid UTF-8, more than 16 MiB, nesting beyond 200, lines of
/// a YAML file beyond 64 KiB. Costs one pass.
bool check_text(std::string_view text, json::Errors& errors);

/// model.safetensors.index.json, which lists a file for each of up to 100,000 tensors.
bool is_weight_index(std::string_view text);

/// Reads every language but YAML. For YAML the language is set, the root is empty.
/// `command`: a command line beside a script, whose flags it is given; "" none.
Document read_text(std::string_view text, std::string_view command = "");

/// The tree as it comes from a YAML parser outside the core, as JSON:
///   scalar  {"scalar": "500_000", "plain": true, "at": 10, "length": 7}
///   list    {"list": [NODE, ...], "at": 4, "length": 20}
///   map     {"map": [{"key": "lora", "at": 0, "length": 4, "value": NODE}, ...], "at": 0, "length": 40}
/// Plain scalars are read by the rules of scalar.h, so that every parser gives the same values.
Document from_wire(std::string_view tree);

/// The text that the spans of a document point into.
inline std::string_view text_of(const Document& document, std::string_view given) {
  return document.code.empty() ? given : std::string_view(document.code);
}

Node scalar_node(json::Json value, std::string raw, bool quoted, Span span);
/// A YAML scalar as PyYAML types it.
Node yaml_scalar(std::string raw, bool plain, Span span);

}  // namespace plimsoll::exchange
