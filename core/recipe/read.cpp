// Reading what the user wrote: every key must be a field of the table.
#include "core/json/near.h"
#include "core/recipe/fields.h"
#include "core/recipe/pattern.h"
#include "core/recipe/version.h"

namespace plimsoll::recipe {

namespace {

using json::Errors;
using json::Json;

std::string join(const std::vector<std::string_view>& words) {
  std::string joined;
  for (std::string_view word : words) joined += (joined.empty() ? "" : ", ") + std::string(word);
  return joined;
}

// Whether `word` is in a list joined by ", ".
bool is_one_of(std::string_view word, std::string_view list) {
  while (!list.empty()) {
    const std::size_t comma = list.find(", ");
    if (list.substr(0, comma) == word) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 2);
  }
  return false;
}

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

// Keys that the table knows directly below `pointer`.
std::vector<std::string_view> keys_below(std::string_view pointer) {
  std::vector<std::string_view> keys;
  if (pointer.empty()) keys.push_back("model");
  for (const Field& field : field_table()) {
    if (!starts_with(field.pointer, std::string(pointer) + "/")) continue;
    std::string_view rest = field.pointer.substr(pointer.size() + 1);
    rest = rest.substr(0, rest.find('/'));
    bool seen = false;
    for (std::string_view key : keys) seen = seen || key == rest;
    if (!seen) keys.push_back(rest);
  }
  return keys;
}

bool is_section(std::string_view pointer) {
  for (const Field& field : field_table()) {
    if (starts_with(field.pointer, std::string(pointer) + "/")) return true;
  }
  return false;
}

std::optional<Json> read_text_map(const Json& value, const std::string& pointer, Errors& errors) {
  if (!value.is_object()) {
    errors.push_back({"wrong_type", pointer,
                      "Expected an object of strings, found " + std::string(json::type_name(value)) + ".",
                      "an object of strings"});
    return std::nullopt;
  }
  for (const auto& [key, member] : value.items()) {
    if (!json::read_text(member, pointer + "/" + json::escape(key), errors)) return std::nullopt;
  }
  return value;
}

// PEFT, and Transformers for GaLore and APOLLO, take a string as a regular expression over the whole module
// name, but for its special word.
std::optional<Json> read_targets(const Json& value, const std::string& pointer, Errors& errors) {
  if (!value.is_string()) {
    auto list = json::read_texts(value, pointer, errors);
    return list ? std::optional<Json>(*list) : std::nullopt;
  }
  if (value == "all-linear") return Json::array({"all-linear"});
  std::string why;
  if (read_pattern(value.get_ref<const std::string&>(), why)) return value;
  const std::string reader = starts_with(pointer, "/peft/") ? "PEFT" : "Transformers";
  errors.push_back({"unsupported", pointer,
                    reader +
                        " reads a single string as a regular expression over full module names; this one "
                        "cannot be read: " +
                        why + ".",
                    "a list of module names, a regular expression, or \"all-linear\""});
  return std::nullopt;
}

// A list whose items must be among the field's words, when it has any.
std::optional<Json> read_words(const Field& field, const Json& value, const std::string& pointer,
                               Errors& errors) {
  const auto list = json::read_texts(value, pointer, errors);
  if (!list) return std::nullopt;
  for (std::size_t i = 0; i < list->size() && !field.words.empty(); ++i) {
    if (is_one_of((*list)[i], field.words)) continue;
    errors.push_back(
        {"unknown_value", pointer + "/" + std::to_string(i),
         "\"" + (*list)[i] + "\" is not known here." + json::did_you_mean((*list)[i], field.words),
         std::string(field.words)});
    return std::nullopt;
  }
  return Json(*list);
}

std::optional<Json> read_field(const Field& field, const Json& value, const std::string& pointer,
                               Errors& errors) {
  const auto lift = [](const auto& read) { return read ? std::optional<Json>(*read) : std::nullopt; };
  switch (field.type) {
    case FieldType::count:
      return lift(json::read_count(value, pointer, json::Range{field.low, field.high}, errors));
    case FieldType::number:
      return lift(json::read_number(value, pointer, json::Range{field.low, field.high}, errors));
    case FieldType::flag:
      return lift(json::read_flag(value, pointer, errors));
    case FieldType::text:
      return lift(json::read_text(value, pointer, errors));
    case FieldType::texts:
      return read_words(field, value, pointer, errors);
    case FieldType::texts_or_text:
      return read_targets(value, pointer, errors);
    case FieldType::text_map:
      return read_text_map(value, pointer, errors);
    case FieldType::version:
    case FieldType::word:
    case FieldType::optimizer:
      break;
  }
  const auto word = json::read_text(value, pointer, errors);
  if (!word) return std::nullopt;
  if (field.type == FieldType::version) {
    if (std::string version = version_of(*word); !version.empty()) return Json(version);
  }
  const std::string allowed = words_of(field);
  if (is_one_of(*word, allowed)) return Json(*word);
  const char* why =
      field.type == FieldType::version ? "\" is no version as pip prints it." : "\" is not known here.";
  errors.push_back(
      {"unknown_value", pointer, "\"" + *word + why + json::did_you_mean(*word, allowed), allowed});
  return std::nullopt;
}

// What people train with and nothing here replays: refused in words, so that nobody takes it for a slip of
// the pen.
struct NotModelled {
  std::string_view key;
  const char* why;
};
constexpr const char* tensor_parallel =
    "Tensor parallelism is not replayed: each rank would hold a part of every matrix and gather activations. "
    "strategy \"fsdp\" or \"zero3\" says what sharded parameters take.";
constexpr const char* pipeline_parallel =
    "Pipeline parallelism is not replayed: stages hold different layers and several micro-batches at once.";
constexpr const char* expert_parallel =
    "Expert parallelism is not replayed: each rank would hold some of the experts and exchange tokens.";
constexpr const char* fp8_training =
    "Training in fp8 (torchao, Transformer Engine) is not replayed: which copies of weights and inputs it "
    "keeps depends on its recipe.";
constexpr NotModelled known_elsewhere[] = {
    {"tensor_parallel_size", tensor_parallel},
    {"tensor_parallel", tensor_parallel},
    {"tp_size", tensor_parallel},
    {"tp", tensor_parallel},
    {"tensor_model_parallel_size", tensor_parallel},
    {"pipeline_parallel_size", pipeline_parallel},
    {"pipeline_parallel", pipeline_parallel},
    {"pp_size", pipeline_parallel},
    {"pp", pipeline_parallel},
    {"pipeline_model_parallel_size", pipeline_parallel},
    {"expert_parallel_size", expert_parallel},
    {"expert_parallel", expert_parallel},
    {"ep_size", expert_parallel},
    {"ep", expert_parallel},
    {"expert_model_parallel_size", expert_parallel},
    {"fp8", fp8_training},
    {"enable_fp8", fp8_training},
};

const char* not_modelled(std::string_view key) {
  for (const NotModelled& row : known_elsewhere) {
    if (row.key == key) return row.why;
  }
  return nullptr;
}

void read_section(const Json& object, const std::string& pointer, Values& values, Errors& errors) {
  for (const auto& [key, value] : object.items()) {
    const std::string here = pointer + "/" + json::escape(key);
    if (here == "/model") continue;
    if (const Field* field = find_field(here)) {
      if (value.is_null()) continue;
      if (auto read = read_field(*field, value, here, errors)) values.emplace(here, std::move(*read));
    } else if (is_section(here)) {
      if (value.is_null()) continue;
      if (!value.is_object()) {
        errors.push_back({"wrong_type", here,
                          "Expected an object, found " + std::string(json::type_name(value)) + ".",
                          "an object, or null for none"});
        continue;
      }
      values.emplace(here, true);  // present: `"peft": {}` is LoRA with every default
      read_section(value, here, values, errors);
    } else if (const char* why = not_modelled(key)) {
      errors.push_back({"not_modelled", here, why, join(keys_below(pointer))});
    } else {
      const std::string allowed = join(keys_below(pointer));
      errors.push_back({"unknown_key", here,
                        "Nothing here is called \"" + key + "\"." + json::did_you_mean(key, allowed),
                        allowed});
    }
  }
}

void read_model(const Json& request, Request& given, Errors& errors) {
  const auto found = request.find("model");
  const bool empty =
      found != request.end() && found->is_string() && found->get_ref<const std::string&>().empty();
  if (found == request.end() || found->is_null() || empty) {
    errors.push_back({"missing", "/model", "A request needs a model.",
                      "a Hugging Face id, a preset id, or {\"config\": {...}, \"name\": \"...\"}"});
    return;
  }
  if (found->is_string()) {
    given.model_id = found->get<std::string>();
    return;
  }
  if (!found->is_object()) {
    errors.push_back({"wrong_type", "/model",
                      "Expected a model id or an object with a config, found " +
                          std::string(json::type_name(*found)) + ".",
                      "a string, or an object with \"config\""});
    return;
  }
  json::Object object(*found, "/model", errors);
  const Json* config = object.find("config");
  given.model_name = object.text("name").value_or("custom model");
  object.no_other_keys();
  if (config == nullptr) {
    errors.push_back(
        {"missing", "/model/config", "A model given as an object needs its config.json.", "an object"});
  } else if (!config->is_object()) {
    errors.push_back({"wrong_type", "/model/config",
                      "Expected an object, found " + std::string(json::type_name(*config)) + ".",
                      "the content of a config.json"});
  } else {
    given.model_config = *config;
  }
}

void check_locks(const Values& values, Errors& errors) {
  const auto locks = values.find("/locks");
  if (locks == values.end()) return;
  for (size_t i = 0; i < locks->second.size(); ++i) {
    std::string pointer = "/" + locks->second[i].get<std::string>();
    for (char& c : pointer) {
      if (c == '.') c = '/';
    }
    if (pointer == "/model" || find_field(pointer) != nullptr || is_section(pointer)) continue;
    errors.push_back({"unknown_value", "/locks/" + std::to_string(i), "There is no such field to lock.",
                      "the dotted name of a field, such as peft.r or training.max_length"});
  }
}

}  // namespace

Request read_request(const Json& request, Errors& errors) {
  Request given;
  if (!request.is_object()) {
    errors.push_back({"wrong_type", "",
                      "A request is an object, found " + std::string(json::type_name(request)) + ".",
                      "an object with at least \"model\""});
    return given;
  }
  read_model(request, given, errors);
  read_section(request, "", given.values, errors);
  check_locks(given.values, errors);
  return given;
}

std::vector<FieldInfo> fields() {
  static constexpr std::string_view types[] = {"count", "number", "flag",  "word",          "word",
                                               "text",  "text",   "texts", "texts_or_text", "text_map"};
  std::vector<FieldInfo> rows;
  for (const Field& field : field_table()) {
    rows.push_back({std::string(field.pointer), std::string(types[static_cast<int>(field.type)]),
                    words_of(field), std::string(field.what)});
  }
  return rows;
}

}  // namespace plimsoll::recipe
