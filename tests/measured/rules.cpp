#include "tests/measured/rules.h"

namespace plimsoll::accuracy {

namespace {

using json::Json;

bool read_condition(const std::string& field, const Json& value, const std::string& here, Rule& rule,
                    json::Errors& errors) {
  const auto text = json::read_text(value, here, errors);
  if (!text) return false;
  Condition condition;
  condition.field = field;
  condition.must_match = text->substr(0, 1) != "!";
  const std::string pattern = condition.must_match ? *text : text->substr(1);
  try {
    condition.pattern =
        std::regex(pattern, std::regex::ECMAScript | std::regex::icase | std::regex::optimize);
  } catch (const std::regex_error&) {
    errors.push_back({"wrong_type", here, "\"" + pattern + "\" is no regular expression.", "a pattern"});
    return false;
  }
  rule.when.push_back(std::move(condition));
  return true;
}

void read_rule(const Json& value, const std::string& here, std::vector<Rule>& rules, json::Errors& errors) {
  json::Object object(value, here, errors);
  Rule rule;
  rule.refuse = object.text("refuse").value_or("");
  const bool explained = object.text("why").has_value();
  object.text("source");
  if (const Json* when = object.find("when"); when != nullptr && when->is_object()) {
    for (const auto& [field, pattern] : when->items()) {
      read_condition(field, pattern, here + "/when/" + json::escape(field), rule, errors);
    }
  }
  if (const Json* set = object.find("set"); set != nullptr && set->is_object()) {
    for (const auto& [pointer, given] : set->items()) rule.set.emplace_back(pointer, given);
  }
  object.no_other_keys();
  if (rule.set.empty() && rule.refuse.empty()) {
    errors.push_back({"missing", here, "A rule sets something or refuses.", "\"set\" or \"refuse\""});
  }
  if (!explained && rule.refuse.empty()) {
    errors.push_back({"missing", here + "/why", "A rule says why.", "a sentence"});
  }
  rules.push_back(std::move(rule));
}

std::string value_text(const Json& value) {
  json::Errors ignored;
  return value.is_string() ? json::read_text(value, "", ignored).value_or("") : json::write(value);
}

// "$1" and "#1": the first group of the last condition that has one.
Json filled(const Json& value, const std::string& captured) {
  if (!value.is_string() || captured.empty()) return value;
  const std::string text = value_text(value);
  if (text == "#1") {
    json::Errors ignored;
    const auto number = json::parse(captured, ignored);
    return number && number->is_number() ? *number : Json(captured);
  }
  const std::size_t at = text.find("$1");
  return at == std::string::npos ? value : Json(text.substr(0, at) + captured + text.substr(at + 2));
}

bool holds(const Rule& rule, const Record& record, const Draft& draft, std::string& captured) {
  for (const Condition& condition : rule.when) {
    std::string text;
    if (condition.field.substr(0, 1) == "/") {
      const auto found = draft.values.find(condition.field);
      if (found != draft.values.end()) text = value_text(found->second);
    } else {
      text = record.text(condition.field);
    }
    std::smatch match;
    if (std::regex_search(text, match, condition.pattern) != condition.must_match) return false;
    if (condition.must_match && match.size() > 1 && match[1].matched) captured = match[1].str();
  }
  return true;
}

}  // namespace

std::vector<Rule> read_rules(std::span<const PresetFile> files, json::Errors& errors) {
  std::vector<Rule> rules;
  for (const PresetFile& file : files) {
    const std::string path(file.path);
    const std::size_t before = errors.size();
    const auto tree = json::parse(file.text, errors);
    if (tree) {
      json::Object object(*tree, "", errors);
      object.text("about");
      const Json* rows = object.find("rules");
      object.no_other_keys();
      if (rows == nullptr || !rows->is_array()) {
        errors.push_back({"missing", "/rules", "A file of rules is a list.", "a list"});
      } else {
        for (std::size_t i = 0; i < rows->size(); ++i) {
          read_rule((*rows)[i], "/rules/" + std::to_string(i), rules, errors);
        }
      }
    }
    for (std::size_t i = before; i < errors.size(); ++i) errors[i].pointer.insert(0, path + " ");
  }
  return rules;
}

void apply(const std::vector<Rule>& rules, const Record& record, Draft& draft) {
  for (const Rule& rule : rules) {
    std::string captured;
    if (!holds(rule, record, draft, captured)) continue;
    if (draft.refused.empty()) draft.refused = rule.refuse;
    for (const auto& [pointer, value] : rule.set) draft.values.emplace(pointer, filled(value, captured));
  }
}

}  // namespace plimsoll::accuracy
