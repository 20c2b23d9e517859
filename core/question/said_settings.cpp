// Settings that stand in a text as a library writes them: "optim=paged_adamw_8bit, packing: false".
#include <algorithm>
#include <optional>
#include <string>

#include "core/json/ascii.h"
#include "core/json/json.h"
#include "core/question/said_methods.h"
#include "core/recipe/fields.h"

namespace plimsoll::question {

namespace {

struct Setting {
  std::string name, value;
};

std::size_t past_blank(std::string_view text, std::size_t at) {
  return at < text.size() && text[at] == ' ' ? at + 1 : at;
}

// Around the equals sign or the colon at `at`. What is called, compared or computed is no setting.
std::optional<Setting> setting_around(std::string_view text, std::size_t at) {
  constexpr std::size_t longest = 60;
  std::size_t end = at;
  while (end > 0 && (text[end - 1] == ' ' || text[end - 1] == '"' || text[end - 1] == '\'')) --end;
  std::size_t begin = end;
  while (begin > 0 && end - begin < longest && ascii::is_word(text[begin - 1])) --begin;
  std::size_t first = past_blank(text, at + 1);
  const bool quoted = first < text.size() && (text[first] == '"' || text[first] == '\'');
  first += quoted ? 1 : 0;
  std::size_t last = first;
  const auto goes_on = [&](char c) {
    return ascii::is_word(c) || (c == '.' && last + 1 < text.size() && ascii::is_digit(text[last + 1]));
  };
  while (last < text.size() && last - first < longest && goes_on(text[last])) ++last;
  const char behind = last < text.size() ? text[last] : '\n';
  if (end == begin || last == first || behind == '(' || behind == '[' || behind == '=') return std::nullopt;
  if (behind == '.' && last + 1 < text.size() && ascii::is_word(text[last + 1])) return std::nullopt;
  return Setting{std::string(text.substr(begin, end - begin)), std::string(text.substr(first, last - first))};
}

// Fields of how a run trains. A short name ("r", "gpu") is also a word.
const recipe::Field* field_called(std::string_view name) {
  constexpr std::size_t shortest = 4;
  if (name.size() < shortest) return nullptr;
  const recipe::Field* only = nullptr;
  for (const recipe::Field& field : recipe::field_table()) {
    const bool trains = field.pointer.starts_with("/training/") || field.pointer.starts_with("/rl/") ||
                        field.pointer.starts_with("/quantization/") ||
                        field.pointer.starts_with("/model_args/");
    if (!trains || !field.pointer.ends_with(name) ||
        field.pointer[field.pointer.size() - name.size() - 1] != '/')
      continue;
    if (only != nullptr) return nullptr;
    only = &field;
  }
  return only;
}

json::Json as_json(const std::string& value) {
  const std::string small = ascii::lower(value);
  if (small == "true" || small == "false") return small == "true";
  json::Errors ignored;
  if (!value.empty() && ascii::is_digit(value.front()))
    if (std::optional<json::Json> number = json::parse(value, ignored)) return *number;
  return value;
}

}  // namespace

void read_settings(std::string_view text, SaidRequest& out) {
  recipe::Values found;
  std::vector<std::string> twice;
  for (std::size_t at = text.find_first_of("=:"); at != std::string_view::npos;
       at = text.find_first_of("=:", at + 1)) {
    const std::optional<Setting> setting = setting_around(text, at);
    const recipe::Field* field = setting ? field_called(setting->name) : nullptr;
    if (field == nullptr) continue;
    json::Errors errors;
    const std::string pointer(field->pointer);
    json::Json request = {{"model", "any"}};
    request[json::Json::json_pointer(pointer)] = as_json(setting->value);
    const recipe::Request read = recipe::read_request(request, errors);
    const auto value = read.values.find(pointer);
    if (!errors.empty() || value == read.values.end()) continue;
    const auto [known, fresh] = found.emplace(pointer, value->second);
    if (!fresh && known->second != value->second) twice.push_back(pointer);
  }
  for (const std::string& pointer : twice) found.erase(pointer);  // which of them holds is not said
  for (auto& [pointer, value] : found) out.values[pointer] = std::move(value);
}

}  // namespace plimsoll::question
