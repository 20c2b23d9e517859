// Strict JSON: the only door through which text becomes data.
//
// Example, reading two fields and reporting everything that is wrong at once:
//
//     json::Errors errors;
//     auto value = json::parse(text, errors);              // duplicate keys, bad syntax, too deep
//     json::Object object(*value, "", errors);
//     auto batch = object.count("per_device_train_batch_size", {1, 65536});
//     auto name  = object.text("model");
//     object.no_other_keys();                              // every key that nobody asked for is an error
//     if (!errors.empty()) { ... errors[0].code, .pointer, .message, .allowed ... }
//
// nlohmann::json coerces silently (-1 read as unsigned is 4294967295, 1.9 read as int is 1), so nothing
// outside this folder reads a value with get<>().
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::json {

using Json = nlohmann::ordered_json;

/// What was wrong, where (RFC 6901 pointer), and what would have been right.
/// Codes: not_json, too_large, duplicate_key, unknown_key, wrong_type, negative, fractional, out_of_range,
/// unknown_value, missing, conflict, unknown_model, unknown_gpu, unknown_stack, unreadable_config,
/// unsupported.
struct Error {
  std::string code;
  std::string pointer;
  std::string message;
  std::string allowed;
};
using Errors = std::vector<Error>;

/// Inclusive limits of a number.
struct Range {
  double low = 0;
  double high = 9007199254740992.0;  // 2^53: larger integers are not exact in JavaScript
};

/// Text to a tree. Refuses duplicate keys, trailing text, nesting beyond 64 and invalid UTF-8.
/// The tree is returned whenever the syntax is right, also when a duplicate key was reported.
std::optional<Json> parse(std::string_view text, Errors& errors);

/// Compact, or indented by two spaces when `pretty`. Invalid UTF-8 is replaced, never thrown on.
std::string write(const Json& value, bool pretty = false);

/// "a/b~c" -> "a~1b~0c": one reference token of a JSON pointer.
std::string escape(std::string_view token);

/// "number", "string", ...: the JSON name of a value's type, for messages.
std::string_view type_name(const Json& value);

/// Reads one scalar that lies at `pointer`. Each returns nothing and adds one error when the value is not
/// exactly of the wanted kind.
std::optional<uint64_t> read_count(const Json& value, const std::string& pointer, Range range,
                                   Errors& errors);
std::optional<double> read_number(const Json& value, const std::string& pointer, Range range, Errors& errors);
std::optional<bool> read_flag(const Json& value, const std::string& pointer, Errors& errors);
std::optional<std::string> read_text(const Json& value, const std::string& pointer, Errors& errors);
std::optional<std::vector<std::string>> read_texts(const Json& value, const std::string& pointer,
                                                   Errors& errors);

/// A JSON object being read strictly. A key that is absent or null gives nothing and no error; a key of the
/// wrong kind gives nothing and one error. `count` never accepts 1.0, true or "1".
class Object {
 public:
  Object(const Json& value, std::string pointer, Errors& errors);

  bool is_object() const { return value_ != nullptr; }
  bool has(std::string_view key);                   ///< present and not null
  const Json* find(std::string_view key);           ///< any value; marks the key as known
  std::string pointer(std::string_view key) const;  ///< pointer of a member

  std::optional<uint64_t> count(std::string_view key, Range range = {});
  std::optional<double> number(std::string_view key, Range range = {});
  std::optional<bool> flag(std::string_view key);
  std::optional<std::string> text(std::string_view key);
  std::optional<std::vector<std::string>> texts(std::string_view key);

  /// Reports each key that was never asked for as unknown_key, naming those that were.
  void no_other_keys();

 private:
  const Json* value_ = nullptr;
  std::string pointer_;
  Errors* errors_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace plimsoll::json
