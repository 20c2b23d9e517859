// presets/stacks/<id>.json:
//   {"id", "name", "summary", "defaults": [{"pointer", "value", "when": {"/versions/trl": ">=0.27"}, "why",
//   "source"}]}; "asked": true where the stack sets none and the value is assumed
//   "dynamic_4bit": [{"in_16_bits": 0.06, "checkpoints": "qwen3-14b qwen3-8b", "vision": true, "source"}]
// Rows are tried in order; the first whose conditions hold gives the default. A condition on a version is a
// comparison, on any other field the JSON of the value it must have, or a list of such values; "/model_type"
// is the network's, "/gpu_bf16" whether the chosen GPU has it; without one it has. A value that is the pointer of a field is that field's value.
#include "core/recipe/fields.h"

namespace plimsoll::recipe {

namespace {

std::vector<DynamicCheckpoints> read_dynamic(const json::Json* rows, json::Errors& errors) {
  std::vector<DynamicCheckpoints> read;
  if (rows == nullptr || !rows->is_array()) return read;
  for (size_t i = 0; i < rows->size(); ++i) {
    json::Object row((*rows)[i], "/dynamic_4bit/" + std::to_string(i), errors);
    const auto share = row.number("in_16_bits", {.low = 0, .high = 1});
    const auto names = row.text("checkpoints");
    const bool vision = row.flag("vision").value_or(false);
    row.text("source");
    row.no_other_keys();
    if (share && names) read.push_back({*share, vision, *names});
  }
  return read;
}

}  // namespace

std::optional<StackPreset> read_stack(const json::Json& preset, json::Errors& errors) {
  const size_t before = errors.size();
  json::Object object(preset, "", errors);
  StackPreset stack;
  stack.id = object.text("id").value_or("");
  stack.name = object.text("name").value_or("");
  stack.summary = object.text("summary").value_or("");
  stack.dynamic_4bit = read_dynamic(object.find("dynamic_4bit"), errors);
  const json::Json* rows = object.find("defaults");
  object.no_other_keys();
  if (rows == nullptr || !rows->is_array()) {
    errors.push_back({"missing", "/defaults", "A stack is a list of defaults.", "a list"});
    return std::nullopt;
  }
  for (size_t i = 0; i < rows->size(); ++i) {
    const std::string here = "/defaults/" + std::to_string(i);
    json::Object row((*rows)[i], here, errors);
    StackDefault made;
    made.pointer = row.text("pointer").value_or("");
    made.why = row.text("why").value_or("");
    made.asked = row.flag("asked").value_or(false);
    // A default says whose it is, wherever it is shown.
    if (!made.asked && !made.why.empty() && made.why.find(stack.name) == std::string::npos)
      made.why = stack.name + ": " + made.why;
    made.source = row.text("source").value_or("");
    const json::Json* value = row.find("value");
    const json::Json* when = row.find("when");
    row.no_other_keys();
    if (find_field(made.pointer) == nullptr) {
      errors.push_back({"unknown_value", here + "/pointer", "There is no field " + made.pointer + ".",
                        "a field's pointer"});
    }
    if (value == nullptr)
      errors.push_back({"missing", here + "/value", "A default needs a value.", "any value"});
    if (made.why.empty() || made.source.empty()) {
      errors.push_back(
          {"missing", here, "A default says why and from where it is known.", "\"why\" and \"source\""});
    }
    if (value != nullptr) made.value = *value;
    if (when != nullptr && when->is_object()) {
      for (const auto& [field, condition] : when->items()) {
        const bool version = field.substr(0, 10) == "/versions/" && condition.is_string();
        made.when.emplace_back(field, version ? condition.get<std::string>() : json::write(condition));
      }
    }
    stack.defaults.push_back(std::move(made));
  }
  if (stack.id.empty()) errors.push_back({"missing", "/id", "A stack needs an id.", "a string"});
  if (errors.size() != before) return std::nullopt;
  return stack;
}

}  // namespace plimsoll::recipe
