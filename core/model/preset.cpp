#include "core/model/preset.h"

#include <cmath>

namespace plimsoll::model {

namespace {

constexpr json::Range any_count{1, 1e15};

// Reads members and says which are missing.
class Section {
 public:
  Section(const json::Json& value, std::string pointer, json::Errors& errors)
      : object_(value, std::move(pointer), errors), errors_(errors) {}

  json::Object& object() { return object_; }
  bool present(std::string_view key) {
    if (object_.has(key)) return true;
    if (object_.is_object()) {
      errors_.push_back({"missing", object_.pointer(key), "Every model file states this.", std::string(key)});
    }
    return false;
  }
  std::string text(std::string_view key) { return present(key) ? object_.text(key).value_or("") : ""; }
  std::vector<std::string> texts(std::string_view key) {
    return present(key) ? object_.texts(key).value_or(std::vector<std::string>())
                        : std::vector<std::string>();
  }
  uint64_t count(std::string_view key) {
    return present(key) ? object_.count(key, any_count).value_or(0) : 0;
  }
  bool flag(std::string_view key) { return present(key) && object_.flag(key).value_or(false); }

 private:
  json::Object object_;
  json::Errors& errors_;
};

// Of checkpoints that the file names, no others.
void read_positions(const json::Json& value, ModelPreset& preset, json::Errors& errors) {
  json::Object object(value, "/positions", errors);
  for (const std::string& name : preset.same_shapes) {
    if (!object.has(name)) continue;
    preset.positions.emplace(name, static_cast<std::size_t>(object.count(name, {1, 1e9}).value_or(0)));
  }
  object.no_other_keys();
}

std::string last_part_in_lower_case(const std::string& hf_id) {
  std::string part = hf_id.substr(hf_id.rfind('/') + 1);
  for (char& c : part) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return part;
}

void read_parameters(const json::Json& value, ModelPreset& preset, json::Errors& errors) {
  Section section(value, "/parameters", errors);
  json::Object& object = section.object();
  preset.parameters = section.count("count");
  preset.verified = section.flag("verified");
  preset.count_sources = section.texts("sources");
  if (object.has("published")) preset.published_parameters = section.count("published");
  if (object.has("adjustment")) {
    const double adjustment = object.number("adjustment", {-1e15, 1e15}).value_or(0);
    if (adjustment != std::floor(adjustment)) {
      errors.push_back(
          {"fractional", "/parameters/adjustment", "Parameters are counted one by one.", "a whole number"});
    }
    preset.adjustment = static_cast<int64_t>(adjustment);
    preset.adjustment_reason = section.text("adjustment_reason");
  }
  object.text("note");
  object.no_other_keys();
  const auto published = static_cast<int64_t>(preset.published_parameters);
  if (preset.verified && published + preset.adjustment != static_cast<int64_t>(preset.parameters)) {
    errors.push_back({"conflict", "/parameters/published",
                      "A verified count equals the published one, after its adjustment.",
                      std::to_string(static_cast<int64_t>(preset.parameters) - preset.adjustment)});
  }
}

}  // namespace

std::optional<ModelPreset> read_model_preset(const json::Json& value, const std::string& file,
                                             json::Errors& errors) {
  json::Errors found;
  ModelPreset preset;
  Section section(value, "", found);
  json::Object& object = section.object();
  preset.id = section.text("id");
  preset.hf_id = section.text("hf_id");
  preset.family = section.text("family");
  preset.aliases = object.texts("aliases").value_or(std::vector<std::string>());
  preset.same_shapes = section.texts("same_shapes");
  preset.sources = section.texts("sources");
  preset.note = object.text("notes").value_or("");
  if (object.has("positions")) read_positions(*object.find("positions"), preset, found);
  if (section.present("config")) preset.config = *object.find("config");
  if (section.present("parameters")) read_parameters(*object.find("parameters"), preset, found);
  object.no_other_keys();
  if (found.empty() && preset.id != last_part_in_lower_case(preset.hf_id)) {
    found.push_back({"conflict", "/id", "The id of a preset is the last part of its hub id in lower case.",
                     last_part_in_lower_case(preset.hf_id)});
  }
  if (found.empty() && file != "models/" + preset.id + ".json") {
    found.push_back(
        {"conflict", "/id", "A preset lies in the file that its id names.", "models/" + preset.id + ".json"});
  }
  for (json::Error& error : found) {
    error.message = file + ": " + error.message;
    errors.push_back(std::move(error));
  }
  if (found.empty()) return preset;
  return std::nullopt;
}

}  // namespace plimsoll::model
