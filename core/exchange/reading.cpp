#include <algorithm>

#include "core/exchange/format.h"
#include "core/exchange/scalar.h"
#include "core/json/ascii.h"
#include "core/recipe/fields.h"
#include "core/recipe/version.h"

namespace plimsoll::exchange {

namespace {

using ascii::lower;
using ascii::trim;

using json::Json;

// "theirs=ours, theirs=ours": the side behind `word`.
std::optional<std::string> lookup(std::string_view values, std::string_view word, bool inverse) {
  while (!values.empty()) {
    const size_t comma = std::min(values.find(", "), values.size());
    const std::string_view pair = values.substr(0, comma);
    const size_t equals = pair.find('=');
    const std::string_view theirs = pair.substr(0, equals), ours = pair.substr(equals + 1);
    if ((inverse ? ours : theirs) == word) return std::string(inverse ? theirs : ours);
    values.remove_prefix(std::min(comma + 2, values.size()));
  }
  return std::nullopt;
}

std::string word_of(const Node& node) {
  if (node.value.is_boolean()) return node.value.get<bool>() ? "true" : "false";
  if (node.value.is_string()) return node.value.get<std::string>();
  return node.raw;
}

std::optional<Json> texts_of(const Node& node) {
  Json list = Json::array();
  if (node.is_list()) {
    for (const Node& item : node.items) list.push_back(item.value.is_string() ? item.value : Json(item.raw));
    return list;
  }
  if (node.value.is_null()) return std::nullopt;
  // "q_proj,v_proj" and "q_proj v_proj" on a command line.
  std::string word;
  const std::string text = word_of(node) + ",";
  for (const char c : text) {
    if (c == ',' || c == ' ') {
      if (!word.empty()) list.push_back(word);
      word.clear();
    } else {
      word += c;
    }
  }
  return list;
}

std::optional<Json> number_of(const Node& node) {
  if (node.value.is_number()) return node.value;
  if (node.value.is_string()) return meant_number(trim(node.value.get_ref<const std::string&>()));
  return std::nullopt;
}

// 1e4 and 512.0 are counts to the one who wrote them.
std::optional<Json> count_of(const Node& node) {
  const auto number = number_of(node);
  if (!number || !number->is_number_float()) return number;
  const double value = number->get<double>();
  if (value < 0 || value > 9e15 || value != static_cast<double>(static_cast<uint64_t>(value)))
    return std::nullopt;
  return Json(static_cast<uint64_t>(value));
}

// A condition says no version: what it leads to depends on the day.
std::optional<Json> version_in(const Node& node) {
  const std::string said = node.is_scalar() ? lower(word_of(node)) : "";
  if (said == "latest" || said == "main" || said == "git") return Json(said);
  const std::string version = recipe::version_of(said);
  return version.empty() ? std::nullopt : std::optional<Json>(version);
}

std::optional<Json> text_map_of(const Node& node) {
  if (!node.is_map()) return std::nullopt;
  Json map = Json::object();
  for (const Member& member : node.members) {
    if (!member.value.is_scalar()) return std::nullopt;
    map[member.key] = member.value.value.is_string() ? member.value.value : Json(member.value.raw);
  }
  return map;
}

}  // namespace

std::string dtype_word(std::string_view text) {
  std::string word = lower(text);
  word = word.substr(word.rfind('.') + 1);
  if (word == "bf16" || word == "bfloat") return "bfloat16";
  if (word == "fp16" || word == "half" || word == "16") return "float16";
  if (word == "fp32" || word == "float" || word == "32") return "float32";
  return word;
}

std::optional<Json> value_for(std::string_view pointer, const Node& node, std::string_view values) {
  const recipe::Field* field = recipe::find_field(pointer);
  if (node.opaque) return std::nullopt;
  Node mapped = node;
  if (!values.empty() && node.is_scalar()) {
    if (auto ours = lookup(values, word_of(node), false)) {
      mapped.value =
          field != nullptr && field->type == recipe::FieldType::flag ? Json(*ours == "true") : Json(*ours);
      mapped.raw = *ours;
    }
  }
  if (field == nullptr) return mapped.is_scalar() ? std::optional<Json>(mapped.value) : std::nullopt;
  using recipe::FieldType;
  switch (field->type) {
    case FieldType::count:
      return count_of(mapped);
    case FieldType::number:
      return number_of(mapped);
    case FieldType::flag: {
      if (mapped.value.is_boolean()) return mapped.value;
      if (!mapped.is_scalar()) return std::nullopt;
      const auto flag = meant_flag(mapped.raw);
      return flag ? std::optional<Json>(*flag) : std::nullopt;
    }
    case FieldType::texts:
      return texts_of(mapped);
    case FieldType::texts_or_text:
      if (mapped.value.is_string()) {
        const std::string& text = mapped.value.get_ref<const std::string&>();
        if (text == "all-linear" || text == "all") return Json("all-linear");
        if (text.find_first_of("*|()[]^$\\") != std::string::npos) return Json(text);  // a pattern
      }
      if (mapped.is_list() && mapped.items.size() == 1 &&
          (mapped.items[0].raw == "all-linear" || mapped.items[0].raw == "all")) {
        return Json("all-linear");
      }
      return texts_of(mapped);
    case FieldType::text_map:
      return text_map_of(mapped);
    case FieldType::word:
      if (!mapped.is_scalar()) return std::nullopt;
      if (pointer.size() > 5 && pointer.substr(pointer.size() - 5) == "dtype")
        return Json(dtype_word(word_of(mapped)));
      return Json(word_of(mapped));
    case FieldType::optimizer:
      if (!mapped.is_scalar()) return std::nullopt;
      return Json(lower(word_of(mapped)));
    case FieldType::version:
      return version_in(mapped);
    case FieldType::text:
      if (!mapped.is_scalar()) return std::nullopt;
      return Json(word_of(mapped));
  }
  return std::nullopt;
}

Json foreign_value(const Row& row, const Json& value) {
  if (row.values.empty()) return value;
  const std::string word = value.is_string()    ? value.get<std::string>()
                           : value.is_boolean() ? (value.get<bool>() ? "true" : "false")
                                                : value.dump();
  const auto theirs = lookup(row.values, word, true);
  if (!theirs) return value;
  if (*theirs == "true" || *theirs == "false") return *theirs == "true";
  return *theirs;
}

bool in_list(std::string_view key, std::string_view list) {
  while (!list.empty()) {
    const size_t blank = std::min(list.find(' '), list.size());
    std::string_view entry = list.substr(0, blank);
    if (!entry.empty() && entry.back() == '*') {
      entry.remove_suffix(1);
      if (key.substr(0, entry.size()) == entry) return true;
    } else if (!entry.empty() && entry == key) {
      return true;
    }
    list.remove_prefix(std::min(blank + 1, list.size()));
  }
  return false;
}

std::string_view use_name(Use use) {
  static constexpr std::string_view names[] = {"used", "implied", "irrelevant", "unsupported", "unknown"};
  return names[static_cast<int>(use)];
}

Reading::Reading(const Document& given, const Format& by, std::string_view source)
    : document(given), format(by), text(source), all(leaves(given.root)) {
  for (const Leaf& leaf : all) {
    Finding finding;
    finding.path = leaf.path;
    finding.at = leaf.node->span;
    finding.quoted = leaf.node->quoted;
    findings.push_back(std::move(finding));
  }
}

const Leaf* Reading::leaf(std::string_view path) const {
  for (const Leaf& leaf : all) {
    if (leaf.path == path) return &leaf;
  }
  return nullptr;
}

Json Reading::value(std::string_view path) const {
  const Leaf* found = leaf(path);
  return found == nullptr ? Json() : found->node->value;
}

std::string Reading::word(std::string_view path) const {
  const Leaf* found = leaf(path);
  return found == nullptr || found->node->value.is_null() ? "" : lower(word_of(*found->node));
}

uint64_t Reading::count(std::string_view pointer, uint64_t otherwise) const {
  const auto found = values.find(std::string(pointer));
  const bool known = found != values.end() && found->second.is_number_unsigned();
  return known ? std::max<uint64_t>(1, found->second.get<uint64_t>()) : otherwise;
}

bool Reading::is_on(std::string_view path) const {
  const Leaf* found = leaf(path);
  if (found == nullptr || !found->node->is_scalar()) return false;
  if (found->node->value.is_boolean()) return found->node->value.get<bool>();
  return meant_flag(found->node->raw).value_or(false);
}

Finding& Reading::finding(const Leaf& leaf) { return findings[static_cast<size_t>(&leaf - all.data())]; }

void Reading::set(std::string_view pointer, const Leaf& leaf, std::string_view by) {
  Finding& found = finding(leaf);
  const Node& node = *leaf.node;
  if (node.is_scalar() && !node.opaque && node.value.is_null())
    return mark(leaf, Use::implied, "left to the default");
  if (node.is_scalar() && lower(node.raw) == "auto" && by.find("auto=") == std::string_view::npos)
    return mark(leaf, Use::implied, "auto: left to the default");
  const auto value = value_for(pointer, node, by);
  found.pointer = pointer;
  if (!value) {
    return mark(
        leaf, Use::unsupported,
        node.opaque ? std::string(expression_message) : "this value cannot be read as what the key holds");
  }
  // A switch that is off, where the field is not a switch: "flash_attention: false".
  const recipe::Field* field = recipe::find_field(pointer);
  if (!by.empty() && node.value == Json(false) && field != nullptr &&
      field->type != recipe::FieldType::flag && *value == Json("false")) {
    found.pointer.clear();
    return mark(leaf, Use::implied, "off, as it is anyway");
  }
  set(pointer, *value, &leaf);
}

void Reading::set(std::string_view pointer, Json value, const Leaf* from) {
  const std::string key(pointer);
  const auto old = values.find(key);
  if (old != values.end() && old->second != value && from != nullptr) {
    for (Finding& other : findings) {
      if (other.pointer == key && other.use == Use::used && &other != &finding(*from)) {
        other.use = Use::implied;
        other.message = "\"" + from->path + "\" says otherwise and is read later";
      }
    }
  }
  values[key] = std::move(value);
  if (from != nullptr) {
    Finding& found = finding(*from);
    found.use = Use::used;
    found.pointer = key;
    found.message.clear();
  }
}

void Reading::mark(const Leaf& leaf, Use use, std::string message) {
  Finding& found = finding(leaf);
  found.use = use;
  found.message = std::move(message);
}

void Reading::drop(std::string_view section, const std::string& why) {
  const std::string below = std::string(section) + "/";
  for (auto field = values.begin(); field != values.end();) {
    const bool inside = field->first == section || field->first.rfind(below, 0) == 0;
    field = inside ? values.erase(field) : std::next(field);
  }
  for (Finding& found : findings) {
    if (found.use != Use::used || (found.pointer != section && found.pointer.rfind(below, 0) != 0)) continue;
    found.use = Use::implied;
    found.message = why;
    found.pointer.clear();
  }
}

const Json* Writing::find(std::string_view pointer) const {
  const auto found = values.find(std::string(pointer));
  return found == values.end() ? nullptr : &found->second;
}

bool Writing::is(std::string_view pointer, const Json& value) const {
  const Json* found = find(pointer);
  return found != nullptr && *found == value;
}

std::string Writing::word(std::string_view pointer) const {
  const Json* found = find(pointer);
  return found != nullptr && found->is_string() ? found->get<std::string>() : "";
}

bool Writing::wrote(std::string_view key) const {
  return std::any_of(entries.begin(), entries.end(), [key](const Entry& entry) { return entry.key == key; });
}

void Writing::put(std::string_view key, Json value, std::string_view pointer) {
  for (Entry& entry : entries) {
    if (entry.key != key) continue;
    entry.value = std::move(value);
    return;
  }
  entries.push_back({std::string(key), std::move(value), std::string(pointer)});
}

}  // namespace plimsoll::exchange
