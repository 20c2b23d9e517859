#include "core/model/config_reader.h"

#include <algorithm>
#include <array>
#include <utility>

namespace plimsoll::model {

namespace {

// Names of one field: a configuration class saves it under the first name of its attribute_map, and that has
// changed between releases (Qwen3-MoE: num_experts, as Transformers 5.23 saves it num_local_experts).
constexpr std::array<std::array<std::string_view, 4>, 3> same_field = {{
    {"num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"},
    {"num_experts_per_tok", "num_experts_per_token", "moe_k", "moe_topk"},
    {"layer_types", "layers_block_type"},
}};

constexpr double largest_size = 134217728;  // 2^27: 100 times the largest vocabulary, and width, in use
constexpr double most_layers = 1024;        // the deepest published network has some 130; each is played
constexpr double most_tiles = 256;          // every grid of them is tried

// The name under which `config` has the field; `key` itself where it has none.
std::string_view written(const json::Json& config, std::string_view key) {
  if (config.contains(key)) return key;
  for (const auto& names : same_field) {
    if (std::find(names.begin(), names.end(), key) == names.end()) continue;
    for (std::string_view name : names) {
      if (!name.empty() && config.contains(name)) return name;
    }
  }
  return key;
}

const json::Json& empty_object() {
  static const json::Json empty = json::Json::object();
  return empty;
}

}  // namespace

ConfigReader::ConfigReader(const json::Json& value, std::string pointer, json::Errors& errors)
    : value_(&value), pointer_(std::move(pointer)), errors_(&errors) {
  if (value.is_object()) return;
  errors.push_back(
      {"unreadable_config", pointer_,
       "This must be an object, as in config.json; it is " + std::string(json::type_name(value)) + ".",
       "an object"});
  value_ = &empty_object();
}

const json::Json* ConfigReader::find(std::string_view key) const {
  const auto at = value_->find(std::string(written(*value_, key)));
  return at == value_->end() ? nullptr : &*at;
}

bool ConfigReader::has(std::string_view key) const {
  const json::Json* value = find(key);
  return value != nullptr && !value->is_null();
}

bool ConfigReader::is_null(std::string_view key) const {
  const json::Json* value = find(key);
  return value != nullptr && value->is_null();
}

bool ConfigReader::is_text(std::string_view key) const {
  const json::Json* value = find(key);
  return value != nullptr && value->is_string();
}

bool ConfigReader::is_list(std::string_view key) const {
  const json::Json* value = find(key);
  return value != nullptr && value->is_array();
}

std::string_view ConfigReader::spelling(std::initializer_list<std::string_view> keys) const {
  for (std::string_view key : keys) {
    if (has(key)) return key;
  }
  return *keys.begin();
}

std::string ConfigReader::pointer(std::string_view key) const {
  return pointer_ + "/" + json::escape(written(*value_, key));
}

void ConfigReader::fail(std::string_view key, std::string message, std::string allowed) {
  errors_->push_back({"unreadable_config", pointer(key), std::move(message), std::move(allowed)});
}

template <typename Value, typename Read>
Value ConfigReader::read(std::string_view key, Value fallback, Read read) {
  if (!has(key)) return fallback;
  json::Errors found;
  auto value = read(*find(key), pointer(key), found);
  for (json::Error& error : found) {
    error.code = "unreadable_config";
    error.message = std::string(key) + ": " + error.message;
    errors_->push_back(std::move(error));
  }
  return value ? Value(std::move(*value)) : fallback;
}

uint64_t ConfigReader::whole(std::string_view key, uint64_t fallback, json::Range range) {
  const bool side = key == "image_size" || key == "patch_size";  // newer towers give both: [448, 448]
  return read(key, fallback,
              [range, side](const json::Json& value, const std::string& at, json::Errors& errors) {
                const bool square = side && value.is_array() && value.size() == 2 && value[0] == value[1];
                return json::read_count(square ? value[0] : value, at, range, errors);
              });
}

bool ConfigReader::may_be_left_out(std::string_view key) {
  if (nested_ || has(key)) return true;
  fail(key, "This config does not say " + std::string(key) + ", without which the model has no size.",
       "a whole number, 1 or more");
  return false;
}

uint64_t ConfigReader::size(std::string_view key, uint64_t fallback) {
  return whole(key, fallback, {1, largest_size});
}

uint64_t ConfigReader::core(std::string_view key, uint64_t fallback) {
  return may_be_left_out(key) ? size(key, fallback) : fallback;
}

uint64_t ConfigReader::depth(std::string_view key, uint64_t fallback) {
  return may_be_left_out(key) ? whole(key, fallback, {1, most_layers}) : fallback;
}

uint64_t ConfigReader::tiles(std::string_view key, uint64_t fallback) {
  return whole(key, fallback, {1, most_tiles});
}

uint64_t ConfigReader::count(std::string_view key, uint64_t fallback) {
  return whole(key, fallback, {0, largest_size});
}

uint64_t ConfigReader::core_count(std::string_view key, uint64_t fallback) {
  return may_be_left_out(key) ? count(key, fallback) : fallback;
}

bool ConfigReader::flag(std::string_view key, bool fallback) { return read(key, fallback, json::read_flag); }

bool ConfigReader::flag_or_outer(std::string_view key, bool fallback) {
  if (outer_ == nullptr || has(key)) return flag(key, fallback);
  const auto at = outer_->find(std::string(key));
  return at != outer_->end() && at->is_boolean() ? *at == true : fallback;
}

double ConfigReader::number(std::string_view key, double fallback, json::Range range) {
  return read(key, fallback, [range](const json::Json& value, const std::string& at, json::Errors& errors) {
    return json::read_number(value, at, range, errors);
  });
}

std::string ConfigReader::text(std::string_view key, std::string_view fallback) {
  return read(key, std::string(fallback), json::read_text);
}

std::vector<uint64_t> ConfigReader::counts(std::string_view key) {
  std::vector<uint64_t> all;
  if (!has(key)) return all;
  const json::Json& list = *find(key);
  if (!list.is_array()) {
    fail(key,
         std::string(key) + ": Expected a list of whole numbers, found " +
             std::string(json::type_name(list)) + ".",
         "a list of whole numbers");
    return all;
  }
  json::Errors found;
  for (size_t i = 0; i < list.size(); ++i) {
    const auto value =
        json::read_count(list[i], pointer(key) + "/" + std::to_string(i), {0, largest_size}, found);
    if (value) all.push_back(*value);
  }
  for (json::Error& error : found) {
    error.code = "unreadable_config";
    errors_->push_back(std::move(error));
  }
  return all;
}

uint64_t ConfigReader::length(std::string_view key, uint64_t fallback) {
  if (!has(key)) return fallback;
  const json::Json& list = *find(key);
  if (list.is_array()) return list.size();
  fail(key, std::string(key) + ": Expected a list, found " + std::string(json::type_name(list)) + ".",
       "a list");
  return fallback;
}

std::vector<std::string> ConfigReader::texts(std::string_view key) {
  return read(key, std::vector<std::string>(), json::read_texts);
}

ConfigReader ConfigReader::part(std::string_view key) {
  ConfigReader inner(has(key) ? *find(key) : empty_object(), pointer(key), *errors_);
  inner.outer_ = value_;
  inner.nested_ = true;
  return inner;
}

ConfigReader ConfigReader::required_part(std::string_view key) {
  if (!has(key)) {
    fail(key, "This config has no " + std::string(key) + ", which describes its language model.",
         "an object");
  }
  return part(key);
}

}  // namespace plimsoll::model
