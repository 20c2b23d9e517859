#include "core/json/json.h"

#include <cmath>

#include "core/json/near.h"

namespace plimsoll::json {

namespace {

constexpr size_t deepest = 64;
constexpr uint64_t exact = 9007199254740992;  // 2^53: larger integers are not exact in JavaScript

// Builds the tree and the pointer of the place it is at, so that a duplicate key can be named. nlohmann's own
// parser keeps the last of two equal keys without a word.
class TreeBuilder : public nlohmann::json_sax<Json> {
 public:
  explicit TreeBuilder(Errors& errors) : errors_(errors) {}

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t&) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t&) override { return false; }

  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& key) override {
    key_ = std::move(key);
    if (open_.back()->contains(key_)) {
      errors_.push_back({"duplicate_key", pointer() + "/" + escape(key_),
                         "The key \"" + key_ + "\" is written twice; it is not clear which one is meant.",
                         "each key once"});
    }
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    errors_.push_back(
        {"not_json", pointer(),
         "This is not JSON: the text stops making sense at character " + std::to_string(position) + ".",
         "one JSON object"});
    return false;
  }

  Json take() { return std::move(root_); }

 private:
  template <typename Value>
  Json* place(Value&& value) {
    if (open_.empty()) {
      root_ = Json(std::forward<Value>(value));
      return &root_;
    }
    Json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(Json(std::forward<Value>(value)));
      return &parent.back();
    }
    return &(parent[key_] = Json(std::forward<Value>(value)));
  }
  template <typename Value>
  bool put(Value&& value) {
    place(std::forward<Value>(value));
    return true;
  }
  bool open(Json&& empty) {
    if (open_.size() >= deepest) {
      errors_.push_back(
          {"too_large", pointer(), "The text is nested too deeply to be a request.", "at most 64 levels"});
      return false;
    }
    names_.push_back(name_of_next());
    open_.push_back(place(std::move(empty)));
    return true;
  }
  bool close() {
    open_.pop_back();
    names_.pop_back();
    return true;
  }
  std::string name_of_next() const {
    if (open_.empty()) return "";
    if (open_.back()->is_array()) return "/" + std::to_string(open_.back()->size());
    return "/" + escape(key_);
  }
  std::string pointer() const {
    std::string joined;
    for (const std::string& name : names_) joined += name;
    return joined;
  }

  Errors& errors_;
  Json root_;
  std::vector<Json*> open_;
  std::vector<std::string> names_;
  std::string key_;
};

std::string plain(double value) {
  if (value == std::floor(value) && std::fabs(value) < 1e15) {
    return std::to_string(static_cast<int64_t>(value));
  }
  return Json(value).dump();
}

std::string span(Range range) {
  return range.high >= 9007199254740992.0 ? plain(range.low) + " or more"
                                          : plain(range.low) + " to " + plain(range.high);
}

void wrong_type(const Json& value, const std::string& pointer, const char* wanted, Errors& errors) {
  errors.push_back({"wrong_type", pointer,
                    std::string("Expected ") + wanted + ", found " + std::string(type_name(value)) + ".",
                    wanted});
}

}  // namespace

std::optional<Json> parse(std::string_view text, Errors& errors) {
  const size_t before = errors.size();
  TreeBuilder builder(errors);
  if (!Json::sax_parse(text.begin(), text.end(), &builder)) {
    if (errors.size() == before) errors.push_back({"not_json", "", "This is not JSON.", "one JSON object"});
    return std::nullopt;
  }
  return builder.take();
}

std::string write(const Json& value, bool pretty) {
  return value.dump(pretty ? 2 : -1, ' ', false, Json::error_handler_t::replace);
}

std::string escape(std::string_view token) {
  std::string out;
  for (char c : token) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

std::string_view type_name(const Json& value) {
  if (value.is_number_float()) return "a number with a decimal point";
  if (value.is_number()) return "a number";
  if (value.is_string()) return "a string";
  if (value.is_boolean()) return "true or false";
  if (value.is_null()) return "null";
  return value.is_array() ? "a list" : "an object";
}

std::optional<uint64_t> read_count(const Json& value, const std::string& pointer, Range range,
                                   Errors& errors) {
  if (!value.is_number()) {
    wrong_type(value, pointer, "a whole number", errors);
    return std::nullopt;
  }
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (number < 0 && range.low >= 0) {
      errors.push_back({"negative", pointer, "This cannot be negative.", span(range)});
    } else {
      errors.push_back({"fractional", pointer,
                        "This is counted in whole units; write it without a decimal point.", span(range)});
    }
    return std::nullopt;
  }
  if (!value.is_number_unsigned() && value.get<int64_t>() < 0) {
    errors.push_back({"negative", pointer, "This cannot be negative.", span(range)});
    return std::nullopt;
  }
  const auto number = value.get<uint64_t>();
  // Past 2^53 the cast rounds, and 2^53 + 1 would pass for 2^53.
  const auto rounded = static_cast<double>(number);
  if (number > exact || rounded < range.low || rounded > range.high) {
    errors.push_back({"out_of_range", pointer, "This number is outside what can be computed.", span(range)});
    return std::nullopt;
  }
  return number;
}

std::optional<double> read_number(const Json& value, const std::string& pointer, Range range,
                                  Errors& errors) {
  if (!value.is_number()) {
    wrong_type(value, pointer, "a number", errors);
    return std::nullopt;
  }
  const double number = value.get<double>();
  if (number < 0 && range.low >= 0) {
    errors.push_back({"negative", pointer, "This cannot be negative.", span(range)});
    return std::nullopt;
  }
  if (!(number >= range.low && number <= range.high)) {
    errors.push_back({"out_of_range", pointer, "This number is outside what can be computed.", span(range)});
    return std::nullopt;
  }
  return number;
}

std::optional<bool> read_flag(const Json& value, const std::string& pointer, Errors& errors) {
  if (!value.is_boolean()) {
    wrong_type(value, pointer, "true or false", errors);
    return std::nullopt;
  }
  return value.get<bool>();
}

std::optional<std::string> read_text(const Json& value, const std::string& pointer, Errors& errors) {
  if (!value.is_string()) {
    wrong_type(value, pointer, "a string", errors);
    return std::nullopt;
  }
  return value.get_ref<const std::string&>();
}

std::optional<std::vector<std::string>> read_texts(const Json& value, const std::string& pointer,
                                                   Errors& errors) {
  if (!value.is_array()) {
    wrong_type(value, pointer, "a list of strings", errors);
    return std::nullopt;
  }
  std::vector<std::string> texts;
  bool good = true;
  for (size_t i = 0; i < value.size(); ++i) {
    auto text = read_text(value[i], pointer + "/" + std::to_string(i), errors);
    good = good && text;
    if (text) texts.push_back(*text);
  }
  if (!good) return std::nullopt;
  return texts;
}

Object::Object(const Json& value, std::string pointer, Errors& errors)
    : pointer_(std::move(pointer)), errors_(&errors) {
  if (value.is_object()) {
    value_ = &value;
  } else {
    wrong_type(value, pointer_, "an object", errors);
  }
}

const Json* Object::find(std::string_view key) {
  known_.emplace(key);
  if (value_ == nullptr) return nullptr;
  const auto found = value_->find(std::string(key));
  return found == value_->end() ? nullptr : &*found;
}

bool Object::has(std::string_view key) {
  const Json* found = find(key);
  return found != nullptr && !found->is_null();
}

std::string Object::pointer(std::string_view key) const { return pointer_ + "/" + escape(key); }

std::optional<uint64_t> Object::count(std::string_view key, Range range) {
  if (!has(key)) return std::nullopt;
  return read_count(*find(key), pointer(key), range, *errors_);
}
std::optional<double> Object::number(std::string_view key, Range range) {
  if (!has(key)) return std::nullopt;
  return read_number(*find(key), pointer(key), range, *errors_);
}
std::optional<bool> Object::flag(std::string_view key) {
  if (!has(key)) return std::nullopt;
  return read_flag(*find(key), pointer(key), *errors_);
}
std::optional<std::string> Object::text(std::string_view key) {
  if (!has(key)) return std::nullopt;
  return read_text(*find(key), pointer(key), *errors_);
}
std::optional<std::vector<std::string>> Object::texts(std::string_view key) {
  if (!has(key)) return std::nullopt;
  return read_texts(*find(key), pointer(key), *errors_);
}

void Object::no_other_keys() {
  if (value_ == nullptr) return;
  std::string allowed;
  for (const std::string& key : known_) allowed += (allowed.empty() ? "" : ", ") + key;
  for (const auto& [key, value] : value_->items()) {
    if (known_.count(key) != 0) continue;
    errors_->push_back({"unknown_key", pointer(key),
                        "Nothing here is called \"" + key + "\"." + did_you_mean(key, allowed), allowed});
  }
}

}  // namespace plimsoll::json
